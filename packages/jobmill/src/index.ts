/** `jobmill`: what users and authors of stores need, and no driver. Stores come from `jobmill/sqlite` and `jobmill/postgres`. */
export { type Enqueuer, enqueuer, type EnqueuerOptions } from './enqueue/enqueuer.ts'
export { BOUNDS, DEFAULTS } from './job/defaults.ts'
export type { Duration } from './job/duration.ts'
export { type ErrorCode, type ErrorDetails, ERRORS, isJobmillError, JobmillError } from './job/errors.ts'
export { errorText } from './job/error-text.ts'
export type { Dedupe, DedupeScope, NewJob } from './job/new-job.ts'
export { type Outcome, OUTCOMES } from './job/outcome.ts'
export { type DedupeRequest, type JobRequest, prepareJobs, type PrepareOptions } from './job/prepare-jobs.ts'
export {
  DEFAULT_QUEUE_SETTINGS,
  prepareQueueChange,
  type QueueChange,
  type QueuePatch,
  type QueueSettings,
} from './job/queue-settings.ts'
export { type EndedState, isEnded, JOB_STATES, type JobState } from './job/state.ts'
export { type Platform, systemPlatform, type Timer } from './platform/platform.ts'
export type { ClaimRequest, Held, Lease } from './store/claim.ts'
export type { CoolDown, Finish, Finished, Progress, Transition } from './store/finish.ts'
export type { InstanceRecord, NewInstance, Pulse, PulseRequest } from './store/instance.ts'
export type { JobFilter, JobPage, PageRequest } from './store/job-list.ts'
export type { AttemptRecord, JobRecord, JobSummary } from './store/job-record.ts'
export type { QueueCounts, QueueRecord } from './store/queue-record.ts'
export type { Enqueued, Reaped, ReapedJob, Retained, Staged, Verdict } from './store/replies.ts'
export type { Doorbell, ReadSide, Store, TxOf, WriteSide } from './store/store.ts'
