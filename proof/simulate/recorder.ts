/** Records what the store has done, in commit order. */
import type { JobState } from 'jobmill'
import {
  type Enqueued,
  type Finish,
  type Finished,
  type FullStore,
  isEnded,
  type Lease,
  type NewJob,
  ON_CANCELLED_QUEUE,
} from 'jobmill/store'
import type { Verb } from '../../packages/jobmill/src/store/verbs.ts'
import type { Entry } from '../history/entry.ts'
import { stepNotes } from './steps/note-steps.ts'

/** Each kind of entry without its time. */
type What = Entry extends infer E ? (E extends Entry ? Omit<E, 'at'> : never) : never

export interface Recorder {
  readonly history: Entry[]
  /** Jobs that were written and have not ended. */
  readonly open: ReadonlySet<string>
  /** Adds an observation from elsewhere. */
  readonly note: (what: What) => void
  /** Calls `seen` with each new entry. */
  readonly watch: (seen: (entry: Entry) => void) => void
  /** Called when a call arrives at the store; the returned function gets the reply. */
  readonly arrived: (verb: Verb, args: readonly unknown[]) => (reply: unknown) => void
  /**
   * Records what the store has done since the last call, in order of arrival: calls that share a transaction
   * are written in that order, and answered in any.
   */
  readonly writeDown: () => void
}

/** The function of a verb. */
type VerbType<V extends Verb> = V extends `${infer Part extends keyof FullStore}.${infer Name}`
  ? FullStore[Part][Name & keyof FullStore[Part]]
  : FullStore[V & keyof FullStore]

/** What each verb records. */
type Notes = {
  readonly [V in Verb]?: VerbType<V> extends (...args: infer Args) => Promise<infer Reply>
    ? (args: Args, reply: Reply) => void
    : never
}

type Note = (args: readonly unknown[], reply: unknown) => void

interface Done {
  /** The arrival number of the call. */
  readonly number: number
  readonly verb: Verb
  readonly args: readonly unknown[]
  readonly reply: unknown
}

interface Lasting {
  readonly token: number
  readonly instance: string
}

export interface RecorderOptions {
  readonly now: () => number
  /** The limit that claims from a queue use. */
  readonly limitOf: (queue: string) => string | undefined
  /** Whether its permits are released. */
  readonly isGivenBack: (limit: string) => boolean
}

export function recorder({ now, limitOf, isGivenBack }: RecorderOptions): Recorder {
  const history: Entry[] = []
  const leases = new Map<string, Lasting>()
  const accepted = new Set<string>()
  const known = new Set<string>()
  const open = new Set<string>()
  /** Running jobs that are to be cancelled when they return to the queue. */
  const asked = new Set<string>()
  /** The permits of jobs: a repeated request is the same permit. */
  const permits = new Map<string, Set<string>>()
  const registered = new Set<string>()
  const done: Done[] = []
  const watchers: ((entry: Entry) => void)[] = []
  let arrivals = 0

  function note(what: What, at = now()): void {
    const entry = { ...what, at }
    history.push(entry)
    for (const seen of watchers) seen(entry)
  }

  function written({ id, queue, kind, priority, delayMs, dueAt, orderKey, dedupe }: NewJob): void {
    if (!known.has(id)) open.add(id)
    known.add(id)
    note({
      what: 'written',
      job: id,
      queue,
      kind,
      priority,
      isReady: delayMs === 0 && dueAt === null && orderKey === null,
      dueAt: delayMs > 0 ? now() + delayMs : null,
      orderKey,
      key: dedupe === null ? null : { key: dedupe.key, holdMs: dedupe.holdMs, holdAfter: dedupe.holdAfter },
    })
  }

  function enqueued(jobs: readonly NewJob[], replies: readonly Enqueued[]): void {
    replies.forEach(({ id, outcome, lease }, n) => {
      const job = jobs[n]
      if (outcome === 'replaced') note({ what: 'replaced', job: id })
      if (job === undefined || outcome !== 'enqueued') return
      written(job)
      if (lease !== undefined) claimed(lease, leasing)
    })
  }

  let leasing = ''

  function claimed(lease: Lease, instance: string): void {
    const { id, token, queue, kind, priority } = lease
    // The store itself wrote it, when it ended a cancelled job.
    if (queue === ON_CANCELLED_QUEUE && !known.has(id)) {
      known.add(id)
      note({ what: 'written', job: id, queue, kind, priority, isReady: false })
    }
    leases.set(id, { token, instance })
    // Including a job that was done, deleted, and written again by a late call.
    open.add(id)
    note({ what: 'claimed', job: id, token, instance })
    const limit = limitOf(queue)
    if (limit !== undefined) granted(limit, id, 1, 0)
  }

  function granted(limit: string, holder: string, amount: number, inMs: number): void {
    const held = permits.get(holder) ?? new Set()
    permits.set(holder, held)
    if (isGivenBack(limit) && held.has(limit)) return
    held.add(limit)
    note({ what: 'granted', limit, holder, amount }, now() + inMs)
  }

  function over(job: string): void {
    leases.delete(job)
    asked.delete(job)
    permits.delete(job)
    note({ what: 'released', holder: job })
  }

  function went(job: string, state: JobState | null): void {
    if (state !== null && isEnded(state)) open.delete(job)
    if (state === 'cancelled') note({ what: 'ended by cancel', job })
  }

  function withdrawn(job: string): void {
    open.delete(job)
    note({ what: 'withdrawn', job })
  }

  function finished(items: readonly Finish[], replies: readonly Finished[]): void {
    replies.forEach((reply, n) => {
      const item = items[n]
      if (item === undefined) return
      const key = `${item.id} ${item.token}`
      const again = reply.accepted && accepted.has(key)
      const { accepted: isAccepted, state } = reply
      const { id: job, token } = item
      const released = item.outcome === null
      note({
        what: 'finished',
        job,
        token,
        accepted: isAccepted,
        state,
        again,
        released,
        ...(item.transition.to === 'parked' && { parked: true }),
      })
      if (!isAccepted || again) return
      accepted.add(key)
      went(item.id, state)
      over(item.id)
      enqueued(item.followUps ?? [], reply.followUps)
      // The completion of the job acknowledges them.
      for (const { id } of reply.followUps) note({ what: 'acknowledged', job: id })
    })
  }

  const steps = stepNotes(note, now)

  const verbs: Notes = {
    'steps.record': ([items], reply) => steps.recorded(items, reply),
    'steps.wait': ([items], reply) => steps.waited(items, reply),
    'steps.send': ([items], reply) => steps.sent(items, reply),
    enqueue([jobs, how], reply) {
      leasing = how?.directDispatch?.instance ?? ''
      enqueued(jobs, reply)
    },
    claim([request], reply) {
      for (const lease of reply) claimed(lease, request.instance)
    },
    finish: ([items, how], reply) => void (how?.rehearse === true || finished(items, reply)),
    cancel([ids], reply) {
      for (const job of ids) note({ what: 'cancel asked', job })
      for (const { id, state, verdict } of reply) {
        if (state === 'cancelled' && verdict === 'changed') note({ what: 'ended by cancel', job: id })
        if (state === 'cancelled') withdrawn(id)
        else if (state === 'running') asked.add(id)
      }
    },
    retry(_, reply) {
      for (const { id, verdict } of reply) {
        if (verdict !== 'changed') continue
        open.add(id)
        note({ what: 'retried', job: id })
      }
    },
    runNow(_, reply) {
      for (const { id, verdict } of reply) if (verdict === 'changed') note({ what: 'hurried', job: id })
    },
    'queues.change'([queue, { settings }]) {
      if (settings.paused !== undefined) note({ what: 'paused', queue, isPaused: settings.paused })
    },
    'instances.request': (_, { id, requested }) =>
      note({ what: 'quieted', instance: id, isQuiet: requested !== null }),
    'instances.register'([{ id, kinds, onCancelled: followed = [], leaseMs }]) {
      if (!registered.has(id)) note({ what: 'registered', instance: id, kinds, followed })
      registered.add(id)
      note({ what: 'alive', instance: id, until: now() + leaseMs })
    },
    'instances.renew'([{ instance, leaseMs, renewEveryMs }], { alive }) {
      // Only then has this call certainly written something.
      if (alive && renewEveryMs === 0) note({ what: 'alive', instance, until: now() + leaseMs })
    },
    'instances.reap'(_, reply) {
      for (const { id, state } of reply.jobs) {
        const instance = leases.get(id)?.instance ?? ''
        note({ what: 'taken back', job: id, state, instance, isCrash: true })
        went(id, state)
        over(id)
      }
    },
    'instances.deregister'([instance]) {
      note({ what: 'alive', instance, until: 0 })
      for (const [job, lease] of leases) {
        if (lease.instance !== instance) continue
        const state = asked.has(job) ? 'cancelled' : 'ready'
        note({ what: 'taken back', job, state, instance })
        went(job, state)
        over(job)
      }
    },
    'schedules.tick'([ticks], reply) {
      reply.forEach(({ schedule, fired }, n) => {
        for (const { at, outcome, job } of fired) {
          note({ what: 'ticked', schedule, instant: at })
          const made = ticks[n]?.fires.find((fire) => fire.job.id === job)?.job
          if (outcome !== 'enqueued') continue
          if (made !== undefined) written(made)
          // The served tick is the acknowledgement of its job.
          note({ what: 'acknowledged', job })
        }
      })
    },
    'limits.acquire'([items], reply) {
      reply.forEach((acquired, n) => {
        const item = items[n]
        if (item === undefined || acquired.outcome !== 'granted') return
        granted(item.limit, item.holder, item.amount, acquired.waitMs)
      })
    },
    'limits.release'([items]) {
      for (const { limit, holder, token } of items) {
        // A late call of an ended attempt has nothing to release.
        if ((leases.get(holder)?.token ?? null) !== token) continue
        permits.get(holder)?.delete(limit)
        note({ what: 'given back', limit, holder })
      }
    },
  }

  return {
    history,
    open,
    note: (what) => note(what),
    watch: (seen) => void watchers.push(seen),
    arrived(verb, args) {
      arrivals += 1
      const number = arrivals
      return (reply) => void done.push({ number, verb, args, reply })
    },
    writeDown() {
      if (done.length === 0) return
      for (const { verb, args, reply } of done.toSorted((a, b) => a.number - b.number))
        (verbs[verb] as Note | undefined)?.(args, reply)
      done.length = 0
    },
  }
}
