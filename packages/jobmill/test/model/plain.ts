// Normalizes records and replies, so that those of different stores are equal: common names for tokens, no
// order where the contract gives none, and nothing that the contract leaves open.
import type { Held, Lease } from '../../src/store/types/claim.ts'
import type { InstanceRecord, Heartbeat } from '../../src/store/types/instance.ts'
import type { AttemptRecord, JobRecord, JobSummary } from '../../src/store/types/job-record.ts'
import type { Reaped, Staged } from '../../src/store/types/replies.ts'
import { type System, claimOf } from './systems.ts'

function byId<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Without `isChild`: a store may set it for a child whose parent was deleted. */
export function plainLease({ token: _, tags, isChild: __, ...lease }: Lease): object {
  return { ...lease, tags: tags.toSorted() }
}

export function plainSummary(job: JobSummary): object {
  return { ...job, tags: job.tags.toSorted() }
}

function plainAttempt(system: System, { token, ...attempt }: AttemptRecord): object {
  return { ...attempt, claim: attempt.instance === null ? null : claimOf(system, token) }
}

export function plainJob(
  system: System,
  job: JobRecord | null,
  attempts: readonly AttemptRecord[],
): object | null {
  if (job === null) return null
  return {
    ...job,
    ...plainSummary(job),
    attempts: attempts.map((attempt) => plainAttempt(system, attempt)),
  }
}

export function plainHeld(system: System, held: readonly Held[]): object[] {
  return byId(held).map(({ token, ...rest }) => ({ ...rest, claim: claimOf(system, token) }))
}

/** The expiry of an ended lease has no meaning. */
export function plainInstances(instances: readonly InstanceRecord[]): object[] {
  return instances.map(({ expiresAt, ...one }) => ({
    ...one,
    expiresAt: one.endedAt === null ? expiresAt : null,
  }))
}

/**
 * Without what a store may report in its own way: versions, when to stage, and whether there is something to
 * roll up.
 */
export function plainHeartbeat(
  system: System,
  { settingsVersion: _, membersVersion, stageInMs: __, unrolled: ___, cancels, ...heartbeat }: Heartbeat,
): object {
  const membersChanged = system.members !== null && membersVersion !== system.members
  system.members = membersVersion
  return {
    ...heartbeat,
    membersChanged,
    cancels: byId(cancels).map(({ token, ...rest }) => ({ ...rest, claim: claimOf(system, token) })),
  }
}

export function plainReaped({ instances, jobs }: Reaped): Reaped {
  return { instances: instances.toSorted(), jobs: byId(jobs) }
}

export function plainStaged({ queues, ...staged }: Staged): object {
  return { ...staged, queues: queues.toSorted() }
}
