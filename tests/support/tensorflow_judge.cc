// Reads chunked files by TensorFlow's own merger, one in each forked child, so that an abort is seen.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"

namespace tensorflow::tools::proto_splitter {
class Merger {
 public:
  static absl::Status Read(std::string prefix, google::protobuf::Message* merged_message);
};
}  // namespace tensorflow::tools::proto_splitter

int main(int, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromIstream(&file)) return 2;
  google::protobuf::DescriptorPool pool;
  for (const auto& each : set.file())
    if (pool.BuildFile(each) == nullptr) return 3;
  google::protobuf::DynamicMessageFactory factory(&pool);
  std::string type, prefix, out;
  while (std::cin >> type >> prefix >> out) {
    int ends[2];
    if (pipe(ends)) return 4;
    pid_t child = fork();
    if (child == 0) {
      int null = open("/dev/null", O_WRONLY);
      dup2(null, 2);
      const auto* kind = pool.FindMessageTypeByName(type);
      std::unique_ptr<google::protobuf::Message> message(factory.GetPrototype(kind)->New());
      absl::Status status = tensorflow::tools::proto_splitter::Merger::Read(prefix, message.get());
      std::string text = status.ok() ? "ok" : "error: " + std::string(status.message());
      std::ofstream(out, std::ios::binary) << message->SerializePartialAsString();
      if (write(ends[1], text.data(), text.size()) < 0) _exit(5);
      _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, size);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    for (char& letter : text)
      if (letter == '\n') letter = ' ';
    std::cout << (WIFSIGNALED(status) ? "abort " + std::to_string(WTERMSIG(status)) : text) << std::endl;
  }
}
