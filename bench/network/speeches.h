// One maker for each kind of work of each peer; make_speech() chooses.
#pragma once

#include <memory>

#include "speech.h"

namespace tenure::bench {

// Locks: each lane acquires and releases one of its own.
std::unique_ptr<Speech> make_tenure_lock(const Plan& plan);
// The same, but the latencies are those of the acquisitions alone.
std::unique_ptr<Speech> make_tenure_acquire(const Plan& plan);
// All lanes try one lock and do not wait; who gets it releases it. A unit is an attempt.
std::unique_ptr<Speech> make_tenure_contended(const Plan& plan);
// All lanes wait for one lock; who gets it releases it at once. The latencies are from release to next grant.
std::unique_ptr<Speech> make_tenure_hand_over(const Plan& plan);
// Tasks of 100 B: submit, lease, complete; one by one, or so many in each of the three steps.
std::unique_ptr<Speech> make_tenure_task(const Plan& plan);
std::unique_ptr<Speech> make_tenure_task_batch(const Plan& plan);
// Work leases over Zipf-distributed domains.
std::unique_ptr<Speech> make_tenure_work(const Plan& plan);

// SET NX PX, and a script that deletes what still has the token.
std::unique_ptr<Speech> make_redis_lock(const Plan& plan);
std::unique_ptr<Speech> make_redis_contended(const Plan& plan);
// XADD, XREADGROUP, XACK.
std::unique_ptr<Speech> make_redis_task(const Plan& plan);

// What Tenure is asked for a lock, for an attempt at one, for a task; answered +OK.
std::unique_ptr<Speech> make_bare_lock(const Plan& plan);
std::unique_ptr<Speech> make_bare_contended(const Plan& plan);
std::unique_ptr<Speech> make_bare_task(const Plan& plan);

// put, reserve, delete.
std::unique_ptr<Speech> make_beanstalkd_task(const Plan& plan);

// JetStream: publish, pull, acknowledge, each answered.
std::unique_ptr<Speech> make_nats_task(const Plan& plan);

}  // namespace tenure::bench
