#include "daemon/control_client.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "control.grpc.pb.h"
#include "daemon/control_messages.hpp"

namespace cotillion {
namespace {

constexpr auto kClientCloseTimeout = std::chrono::seconds(3);
constexpr auto kClientLook = std::chrono::milliseconds(100);  // signals are noticed this late

std::chrono::nanoseconds nanoseconds_of(Duration wait) {
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, wait.ps / 1000));
}

}  // namespace

// Callbacks come from gRPC's threads. A hold keeps the call open for writes from other threads; it
// is given up when nothing more can be read.
struct ControlClient::State final : grpc::ClientBidiReactor<control::Envelope, control::Envelope> {
  void begin() {
    stub->async()->Converse(&context, this);
    AddHold();
    reading = true;
    StartRead(&in);
    StartCall();
  }

  void OnReadDone(bool good) override {
    const std::lock_guard lock(mutex);
    reading = false;
    if (!good) {
      if (!closing) post({std::nullopt, "the stream ended"});
      broken = true;
      return release();
    }
    auto message = from_envelope(in);
    if (closing) return read();
    if (message) return post({std::move(*message), {}});
    post({std::nullopt, message.error().message});
    context.TryCancel();
    read();
  }
  void OnWriteDone(bool good) override {
    const std::lock_guard lock(mutex);
    writing = false;
    if (!good) queue.clear();
    pump();
  }
  void OnDone(const grpc::Status&) override {
    const std::lock_guard lock(mutex);
    done = true;
    news.notify_all();
  }

  void post(ChannelEvent event) {
    events.push_back(std::move(event));
    news.notify_all();
  }
  void read() {
    if (reading || broken) return;
    reading = true;
    StartRead(&in);
  }
  void pump() {
    if (writing || broken || ended) return;
    if (!queue.empty()) {
      out = std::move(queue.front());
      queue.pop_front();
      writing = true;
      StartWrite(&out);
    } else if (closing) {
      ended = true;
      StartWritesDone();
    }
  }
  void release() {
    if (held) RemoveHold();
    held = false;
  }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<control::Control::Stub> stub;
  grpc::ClientContext context;
  std::mutex mutex;
  std::condition_variable news;
  std::deque<ChannelEvent> events;
  std::deque<control::Envelope> queue;
  control::Envelope in, out;
  bool reading = false, writing = false, closing = false, ended = false;
  bool broken = false;  // nothing is read or written any more
  bool held = true, done = false;
};

Result<ControlClient> ControlClient::connect(const std::string& address, Duration timeout,
                                             const std::function<bool()>& give_up) {
  auto state = std::make_unique<State>();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // plans of many islands are large
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  state->channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  const auto began = std::chrono::steady_clock::now();
  for (bool connected = false; !connected;) {
    const auto left = nanoseconds_of(timeout) - (std::chrono::steady_clock::now() - began);
    if (left.count() <= 0)
      return failure(
          fmt::format("no coordinator answers at {} after {}", address, wait_text(timeout)));
    if (give_up && give_up())
      return failure(fmt::format("asked to stop before a coordinator answered at {}", address));
    connected = state->channel->WaitForConnected(
        std::chrono::system_clock::now() + std::min<std::chrono::nanoseconds>(left, kClientLook));
  }
  state->stub = control::Control::NewStub(state->channel);
  state->begin();
  return ControlClient(std::move(state));
}

ControlClient::ControlClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlClient::ControlClient(ControlClient&&) noexcept = default;

ControlClient::~ControlClient() {
  if (state_ == nullptr) return;
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->read();
  state_->pump();
  const auto over = [this] { return state_->done; };
  if (!state_->news.wait_for(lock, kClientCloseTimeout, over)) {
    state_->context.TryCancel();
    state_->news.wait(lock, over);  // which cancelling makes sure of
  }
}

std::optional<ChannelEvent> ControlClient::next(Duration wait) {
  std::unique_lock lock(state_->mutex);
  state_->news.wait_for(lock, nanoseconds_of(wait), [this] { return !state_->events.empty(); });
  if (state_->events.empty()) return std::nullopt;
  ChannelEvent event = std::move(state_->events.front());
  state_->events.pop_front();
  state_->read();
  return event;
}

void ControlClient::send(const Message& message) {
  const std::lock_guard lock(state_->mutex);
  if (state_->broken || state_->closing) return;
  state_->queue.push_back(to_envelope(message));
  state_->pump();
}

}  // namespace cotillion
