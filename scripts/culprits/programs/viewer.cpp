#include <fstream>
#include <string>

namespace gallery {
struct Album {
  __attribute__((noinline)) int load_thumbnail(const std::string &path) {
    std::ifstream file(path);
    int byte = file.get();  // culprit
    return byte + 1;
  }
};

__attribute__((noinline)) static int draw(const std::string &path) { return Album().load_thumbnail(path) + 1; }
}  // namespace gallery

int main(int count, char **words) { return count < 2 || gallery::draw(words[1]) < 0; }
