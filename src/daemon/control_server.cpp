#include "daemon/control_server.hpp"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "control.grpc.pb.h"
#include "daemon/control_messages.hpp"

namespace cotillion {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kHelloTimeout = std::chrono::seconds(10);  // until a stream says anything
constexpr auto kServerCloseTimeout =
    std::chrono::seconds(3);           // until a closed one has taken the rest
constexpr int kReceiveMost = 4 << 20;  // bytes of a message; reports are small

}  // namespace

struct ControlServer::State final : control::Control::CallbackService {
  // Its callbacks come from gRPC's threads; all that is in it is guarded by the server's mutex.
  class Stream final : public grpc::ServerBidiReactor<control::Envelope, control::Envelope> {
   public:
    Stream(State& state, grpc::CallbackServerContext* context, ConnectionId id)
        : state_(state), context_(context), id_(id), since_(Clock::now()) {}

    void read() {
      if (reading_ || finished_) return;
      reading_ = true;
      StartRead(&in_);
    }
    void write(const Message& message) {
      if (closing_) return;
      queue_.push_back(to_envelope(message));
      pump();
    }
    void close() {
      if (closing_) return;
      closing_ = told_ = true;
      since_ = Clock::now();
      pump();
    }
    void cut_if_late() {
      const auto timeout = closing_ ? kServerCloseTimeout : kHelloTimeout;
      if ((closing_ || !spoke_) && !cut_ && Clock::now() - since_ > timeout) cut();
    }
    void cut() {
      cut_ = true;
      context_->TryCancel();
    }

    void OnReadDone(bool good) override {
      const std::lock_guard lock(state_.mutex);
      reading_ = false;
      if (!good) return lose("the stream ended");
      auto message = from_envelope(in_);
      if (!message) return lose(message.error().message);
      if (told_) return;
      spoke_ = true;
      state_.post({id_, std::move(*message), {}});
    }
    void OnWriteDone(bool good) override {
      const std::lock_guard lock(state_.mutex);
      writing_ = false;
      if (!good) queue_.clear();
      pump();
    }
    void OnCancel() override {
      const std::lock_guard lock(state_.mutex);
      queue_.clear();
      lose("the connection broke");
    }
    void OnDone() override {
      {
        const std::lock_guard lock(state_.mutex);
        state_.streams.erase(id_);
        state_.news.notify_all();
      }
      delete this;
    }

   private:
    void lose(const std::string& why) {
      if (!told_) state_.post({id_, std::nullopt, why});
      told_ = closing_ = true;
      since_ = Clock::now();
      pump();
    }
    void pump() {
      if (writing_ || finished_) return;
      if (!queue_.empty()) {
        out_ = std::move(queue_.front());
        queue_.pop_front();
        writing_ = true;
        StartWrite(&out_);
      } else if (closing_) {
        finished_ = true;
        Finish(grpc::Status::OK);
      }
    }

    State& state_;
    grpc::CallbackServerContext* context_;
    ConnectionId id_;
    Clock::time_point since_;
    control::Envelope in_, out_;
    std::deque<control::Envelope> queue_;
    bool reading_ = false, writing_ = false, closing_ = false, finished_ = false;
    bool spoke_ = false, cut_ = false;
    bool told_ = false;  // the host knows that nothing comes from here any more
  };

  grpc::ServerBidiReactor<control::Envelope, control::Envelope>* Converse(
      grpc::CallbackServerContext* context) override {
    const std::lock_guard lock(mutex);
    const ConnectionId id = ++last_id;
    auto* stream = new Stream(*this, context, id);  // deletes itself in OnDone
    streams.emplace(id, stream);
    stream->read();
    return stream;
  }

  void post(ControlEvent event) {
    events.push_back(std::move(event));
    news.notify_all();
  }

  std::mutex mutex;
  std::condition_variable news;
  std::deque<ControlEvent> events;
  std::map<ConnectionId, Stream*> streams;
  ConnectionId last_id = 0;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

Result<ControlServer> ControlServer::listen(const std::string& address) {
  // What goes wrong is said here in our words; gRPC would write to stderr in its own.
  gpr_set_log_function([](gpr_log_func_args*) {});
  auto state = std::make_unique<State>();
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &state->port);
  builder.RegisterService(state.get());
  builder.SetMaxReceiveMessageSize(kReceiveMost);
  // Two that listen on one port would each hear half of the members.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  state->server = builder.BuildAndStart();
  if (state->server == nullptr || state->port == 0)
    return failure(fmt::format(
        "cannot listen on {}: no such address here, or another program has the port", address));
  return ControlServer(std::move(state));
}

ControlServer::ControlServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlServer::ControlServer(ControlServer&&) noexcept = default;

ControlServer::~ControlServer() {
  if (state_ == nullptr) return;
  {
    std::unique_lock lock(state_->mutex);
    for (const auto& [id, stream] : state_->streams) stream->close();
    state_->news.wait_for(lock, kServerCloseTimeout, [this] { return state_->streams.empty(); });
  }
  state_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  state_->server->Wait();
}

int ControlServer::port() const {
  return state_->port;
}

std::optional<ControlEvent> ControlServer::next(Duration wait) {
  std::unique_lock lock(state_->mutex);
  for (const auto& [id, stream] : state_->streams) stream->cut_if_late();
  state_->news.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(0, wait.ps / 1000)),
                        [this] { return !state_->events.empty(); });
  if (state_->events.empty()) return std::nullopt;
  ControlEvent event = std::move(state_->events.front());
  state_->events.pop_front();
  // One message at a time: whoever talks faster than the coordinator listens has to wait.
  const auto stream = state_->streams.find(event.connection);
  if (stream != state_->streams.end()) stream->second->read();
  return event;
}

void ControlServer::send(ConnectionId to, const Message& message) {
  const std::lock_guard lock(state_->mutex);
  const auto stream = state_->streams.find(to);
  if (stream != state_->streams.end()) stream->second->write(message);
}

void ControlServer::close(ConnectionId connection) {
  const std::lock_guard lock(state_->mutex);
  const auto stream = state_->streams.find(connection);
  if (stream != state_->streams.end()) stream->second->close();
}

}  // namespace cotillion
