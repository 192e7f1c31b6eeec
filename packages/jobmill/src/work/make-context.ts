/** The context of one attempt. What it writes goes through the fence of the lease; after the attempt has ended it writes nothing. */
import type {
  EnqueueInside,
  EnqueueManyInside,
  InstanceInfo,
  JobContext,
  JobInfo,
  JobLog,
  LogLevel,
} from '../job/context.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Duration } from '../job/duration.ts'
import { JobmillError } from '../job/errors.ts'
import { jsonText } from '../job/json-text.ts'
import type { LimitInside } from '../job/limit-handle.ts'
import { Snooze } from '../job/thrown.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { Attempt } from './attempt.ts'

/** What an attempt can reach. */
export interface ContextTools {
  readonly platform: Platform
  readonly instance: InstanceInfo
  readonly changed: (attempt: Attempt) => void
  /** Enqueue as users call it, on behalf of this attempt. */
  readonly enqueueFor: (attempt: Attempt) => {
    readonly enqueue: EnqueueInside
    readonly enqueueMany: EnqueueManyInside
  }
  /** Draws on limits on behalf of this attempt. */
  readonly limitFor: (attempt: Attempt) => LimitInside
  readonly complete: (attempt: Attempt, tx: unknown, result: unknown) => Promise<void>
}

export function makeContext(attempt: Attempt, payload: unknown, tools: ContextTools): JobContext {
  return {
    payload,
    job: jobInfo(attempt.lease),
    attempt: attempt.lease.attempt,
    signal: attempt.controller.signal,
    instance: tools.instance,
    now: () => tools.platform.now(),
    log: jobLog(attempt, tools),
    ...tools.enqueueFor(attempt),
    limit: tools.limitFor(attempt),
    progress(value) {
      if (attempt.ended) return
      attempt.progress = jsonText(value, 'progress', DEFAULTS.payloadLimitBytes, 'Note less')
      tools.changed(attempt)
    },
    snooze(time: Duration): never {
      throw new Snooze(time)
    },
    complete(tx, result) {
      checkLive(attempt)
      return tools.complete(attempt, tx, result)
    },
  }
}

export function checkLive(attempt: Attempt): void {
  if (!attempt.ended) return
  throw new JobmillError(
    'ATTEMPT_ENDED',
    `attempt ${attempt.lease.attempt} of ${attempt.lease.id} has ended`,
    {
      fix: 'Await everything that the handler starts before it returns',
    },
  )
}

export function jobInfo(lease: Lease): JobInfo {
  const { payload: _payload, timeoutMs: _timeout, readyAt: _ready, metadata, ...info } = lease
  return { ...info, metadata: metadata === null ? null : (JSON.parse(metadata) as JobInfo['metadata']) }
}

function jobLog(attempt: Attempt, { platform, changed }: ContextTools): JobLog {
  const write =
    (level: LogLevel): JobLog['info'] =>
    (message, fields) => {
      if (attempt.ended) return
      attempt.log.add({ at: platform.now(), level, message, ...(fields === undefined ? {} : { fields }) })
      changed(attempt)
    }
  return Object.assign(write('info'), {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  })
}
