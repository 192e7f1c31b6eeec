/**
 * `jobmill/store`: the contract of a store, and what its rules refer to. For authors of stores: see "Write a
 * store" in the docs. Test a store with `storeConformance` of `jobmill-conformance`.
 */

// The contract.
export type { FullStore, JobStore, Store, ToolStore, TxOf } from './store/store.ts'
export type {
  AlertsPart,
  InspectPart,
  InstancesPart,
  GroupsPart,
  LimitsPart,
  MetricsPart,
  NotifierPart,
  OverridesPart,
  QueuesPart,
  RemoteDispatch,
  SchedulesPart,
  StepsPart,
  ViewsPart,
} from './store/parts.ts'
export {
  ALL_VERBS,
  aroundVerbs,
  type AnyVerb,
  type Verb,
  verbOf,
  VERBS,
  type VerbClass,
} from './store/verbs.ts'
export type { StoreTools } from './store/admin/tools.ts'

// Jobs.
export type { Dedupe, HeldAfter, HoldAfter, NewJob } from './job/enqueue/new-job.ts'
export {
  FIRST_PLACES,
  debouncedUntil,
  isHeldForTime,
  isHeldUntilEnd,
  keyExpiresAt,
} from './job/enqueue/new-job.ts'
export { type Outcome, OUTCOMES } from './job/attempt/outcome.ts'
export { type EndedState, isEnded, JOB_STATES, type JobState } from './job/state.ts'
export type {
  ClaimRequest,
  DirectDispatchOffer,
  DispatchedJob,
  Held,
  Lease,
  IdleWorkerOffer,
} from './store/types/claim.ts'
export type { CoolDown, Finish, Finished, Progress, Transition } from './store/types/finish.ts'
export {
  type Chunk,
  cursorInvalid,
  type JobFilter,
  type JobPage,
  listWithinBudget,
  namesOf,
  orderOf,
  type PageRequest,
  type Position,
  type ReadOptions,
} from './store/types/job-list.ts'
export {
  type AttemptRecord,
  type AttemptRun,
  type JobFailure,
  type JobRecord,
  type JobResult,
  type JobSummary,
  LOG_END,
} from './store/types/job-record.ts'
export {
  CHILD_DELETED,
  type ChildRecord,
  type ChildrenOf,
  type ChildrenStart,
  type EventReply,
  type Memo,
  NEVER_DUE,
  PARENT_CANCELLED,
  type ParentRecord,
  type SentEvent,
  STEP_KINDS,
  type StepKind,
  type StepRecord,
  STEPS_REWOUND,
  type StepWait,
  type StepWrite,
  type Waited,
} from './store/types/step.ts'
export type { NewPayload } from './store/types/new-payload.ts'
export { isOneWrite } from './store/batch/one-write.ts'
export { entryOf, withEntriesOf } from './job/payload/indexed.ts'
export { hasAll, type PayloadAt } from './store/payload-at.ts'
export { isDedupeKey } from './store/dedupe-key.ts'
export {
  type Enqueued,
  NOTHING_RETAINED,
  type Reaped,
  type ReapedJob,
  type Retained,
  type RetainRequest,
  type Staged,
  type Verdict,
} from './store/types/replies.ts'

// Queues and overrides.
export { DEFAULT_QUEUE_SETTINGS, type QueuePatch, type QueueSettings } from './job/queue/queue-settings.ts'
export {
  effectiveQueue,
  isSameQueue,
  overrideQueue,
  queueOverrides,
  type QueueSources,
  resetQueue,
  UNDECLARED,
} from './job/queue/queue-sources.ts'
export {
  dropOverrides,
  droppedOptions,
  NO_OVERRIDES,
  overriddenValues,
  type Overridable,
  type Override,
  type OverrideRecord,
  type Overrides,
  type Stamp,
} from './job/queue/overrides.ts'
export {
  type DeclaredQueue,
  POSITION_MOST,
  type QueueCounts,
  type QueueRecord,
  queueUnknown,
  UNSERVED_ROWS,
  type UnservedKind,
} from './store/types/queue-record.ts'

// Instances.
export { crashError, KEY_TAKEN, NO_CRASH, STOOD_STILL } from './job/attempt/crash.ts'
export { kindsOfVersion, parseKind, storedKind } from './job/kind/kind-name.ts'
export {
  type Cancellation,
  ON_CANCELLED_QUEUE,
  onCancelledJob,
  onCancelledKind,
} from './job/attempt/on-cancelled.ts'
export { type Death, ON_DEAD_QUEUE, onDeadJob, onDeadKind } from './job/attempt/on-dead.ts'
export type { DutyBid, DutyRecord, Slot, SlotChange } from './store/types/duty.ts'
export {
  type Heartbeat,
  type HeartbeatRequest,
  type InstanceRecord,
  type InstanceRequest,
  isClaiming,
  type NewInstance,
  type VersionRecord,
} from './store/types/instance.ts'

// Schedules.
export {
  isRetimed,
  type Missed,
  type Overlap,
  overlapKey,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from './job/schedule/schedule.ts'
export {
  type Creation,
  liveSchedule,
  overrideSchedule,
  scheduleOverrides,
  type ScheduleSources,
  stampCreation,
  stampDeletion,
} from './job/schedule/schedule-sources.ts'
export type {
  DeclaredSchedule,
  ScheduleRecord,
  Tick,
  Ticked,
  TickOutcome,
  TickRecord,
} from './store/types/schedule.ts'

// Limits.
export {
  afterSpending,
  answer,
  type Answer,
  type Answered,
  type Ask,
  available,
  type BudgetState,
  changeBudget,
  drainBudget,
  EMPTY_BUDGET,
  nextInMs,
} from './job/limit/budget.ts'
export {
  type ConcurrencySettings,
  isPerKey,
  type LimitParts,
  type LimitSettings,
  type RateSettings,
} from './job/limit/limit.ts'
export {
  createdLimit,
  effectiveLimit,
  isSameLimit,
  keepsPerKey,
  limitOverrides,
  type LimitSources,
  overrideLimit,
  resetLimit,
} from './job/limit/limit-sources.ts'
export {
  type Acquired,
  type AcquireRequest,
  type DeclaredLimit,
  KEYS_MOST,
  type LimitRecord,
  type PermitOf,
} from './store/types/limit.ts'

// Alerts.
export type { CheckName } from './job/alert/check-names.ts'
export {
  type AlertCause,
  type AlertMessage,
  type AlertRule,
  type AlertState,
  type FoundProblem,
  NO_STATE,
} from './job/alert/rule.ts'
export type { AlertRecord, AlertWrite } from './store/types/alert.ts'

// Saved views.
export type { NewView, ViewRecord } from './store/types/view.ts'

// Metrics.
export { type Gauge, type Histogram, mergeData, type MetricData } from './job/metric-data.ts'
export {
  type MetricDelta,
  type MetricOwn,
  type MetricQuery,
  type MetricRecord,
  type NewTimelineEvent,
  type Recording,
  type Resolution,
  RESOLUTIONS,
  type TimelineEvent,
  type TimelineQuery,
} from './store/types/metrics.ts'

// Groups.
export {
  GROUP_WAITING_MOST,
  type GroupListRequest,
  type GroupPatch,
  type GroupRecord,
  type GroupSettings,
  isChanged,
} from './store/types/group.ts'
export { FIRST_TURN, takeTurns, type Turn, type TurnSource } from './store/take-turns.ts'

// The notifier.
export { waiters, type Waiters } from './store/waiters.ts'
export { wakeAll, type WakeUp } from './store/types/wake-up.ts'

// Rows: the rules of the contract as functions without I/O.
export * from './store/rows/job-row.ts'
export * from './store/rows/read-rows.ts'
export * from './store/rows/cluster-rows.ts'

// Errors, checks and tools.
export { BOUNDS, DEFAULTS } from './job/defaults.ts'
export {
  type ErrorCode,
  type ErrorDetails,
  ERRORS,
  isJobmillError,
  JobmillError,
  quote,
} from './job/errors.ts'
export { checkId, checkKey, checkName } from './job/names.ts'
export { checkOneOf, checkWhole } from './job/numbers.ts'
export { storableText } from './job/text/error-text.ts'
export { checkJsonText } from './job/text/json-text.ts'
export {
  limitExists,
  limitInCode,
  limitInUse,
  instanceEnded,
  instanceUnknown,
  limitUnknown,
  notInCode,
  perKeyFixed,
  perKeyInCode,
  perKeyOnQueue,
  scheduleExists,
  scheduleUnknown,
  wrongKey,
} from './store/cluster-errors.ts'
export { createLifecycle, type Lifecycle, storeClosed } from './store/lifecycle.ts'
export { type Platform, systemPlatform, type Timer } from './platform/platform.ts'
export { type JobRequest, prepareJobs, type PrepareOptions } from './job/enqueue/prepare-jobs.ts'
