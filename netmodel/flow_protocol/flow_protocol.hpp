// How MPI messages become flows, with the rules of SMPI: which sends free their sender at once, which
// messages travel before their receive is posted, and what the calls cost in CPU time. It is all that a rank
// has to know of a network with contention; netmodel/simgrid adds the flows, in the simulator.
//
// Specification: flows:eager=BYTES,unasked=BYTES[,os=PIECES][,ois=PIECES][,or=PIECES] (docs/networks.md).
// Immutable; all functions may be called from any thread.
#pragma once

#include "netmodel/flow_protocol/piecewise.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/specification.hpp"

namespace nplus1::netmodel {

class FlowProtocol : public NetworkModel {
 public:
  struct Parameters {
    double eager = 65536;      // a smaller message frees its sender at once: smpi/send-is-detached-thresh
    double unasked = 0;        // a smaller message travels before its receive: smpi/async-small-thresh
    Piecewise blocking_send;   // smpi/os
    Piecewise immediate_send;  // smpi/ois
    Piecewise receive;         // smpi/or
  };

  explicit FlowProtocol(Parameters parameters) : p_{std::move(parameters)} {}

  [[nodiscard]] Duration send_overhead(Bytes size) const override { return p_.immediate_send.at(size); }
  [[nodiscard]] Duration blocking_send_overhead(Bytes size) const override {
    return eager(size) ? p_.blocking_send.at(size) : Duration{};
  }
  [[nodiscard]] Duration receive_overhead(Bytes size) const override {
    return eager(size) ? p_.receive.at(size) : Duration{};
  }
  /// A lower bound: the flows know.
  [[nodiscard]] Duration transit(RankId, RankId, Bytes) const override { return {}; }
  [[nodiscard]] Duration occupancy(Bytes) const override { return {}; }
  [[nodiscard]] Duration minimum_latency() const override { return {}; }
  [[nodiscard]] bool eager(Bytes size) const override { return static_cast<double>(count(size)) < p_.eager; }
  [[nodiscard]] bool travels_unasked(Bytes size) const override {
    return static_cast<double>(count(size)) < p_.unasked;
  }
  [[nodiscard]] Duration handshake() const override { return {}; }
  [[nodiscard]] bool contention_free() const override { return false; }
  [[nodiscard]] std::string describe() const override { return protocol(); }

 protected:
  [[nodiscard]] std::string protocol() const;

 private:
  Parameters p_;
};

[[nodiscard]] Result<std::unique_ptr<NetworkModel>> parse_flow_protocol(const Specification& specification);

}  // namespace nplus1::netmodel
