/**
 * Sends the events that jobs with steps wait for: before the wait, right when it starts, or only after the
 * job was parked or another step of the job has run. A job that does not free its worker, or does not run
 * again, never ends.
 */
import { isJobmillError } from 'jobmill'
import type { Entry } from '../../history/entry.ts'
import type { Chance } from '../chance.ts'
import type { SimulatedProcess } from '../process/process.ts'
import type { Recorder } from '../recorder.ts'
import type { World } from '../world.ts'
import { REMINDER, STEP_KIND } from './step-job.ts'

interface Planned {
  readonly name: string
  when: 'before' | 'at' | 'parked' | 'reminded' | 'never'
  isSent: boolean
}

interface Waiting {
  readonly planned: readonly Planned[]
  /** The events that its current attempt waits for. */
  readonly events: Set<string>
  isDone: boolean
}

export interface SendersOptions {
  readonly world: World
  readonly recorder: Recorder
  readonly chance: Chance
  /** A process without faults. */
  readonly client: SimulatedProcess
  readonly workers: readonly SimulatedProcess[]
}

/** The longest delay of an event, by when it is sent: around the park, and around the timeout of a wait. */
const LONGEST_MS = { before: 1_000, at: 60, parked: 1_000, reminded: 200, never: 0 } as const
const RETRY_MS = 500
/** Longer than a call retries. Its process may be dead by then. */
const GIVEN_UP_MS = 40_000

/** Returns a function that throws if a call was refused because of the call itself. */
export function senders({ world, recorder, chance, client, workers }: SendersOptions): () => void {
  const jobs = new Map<string, Waiting>()
  let sends = 0
  let wrong: Error | undefined

  function plan(isAgain: boolean): Waiting {
    const one = (name: string, ...when: Planned['when'][]): Planned => ({
      name,
      // The sender of a job that is written again may have been told that it has ended.
      when: isAgain ? 'at' : chance.pick(when),
      isSent: false,
    })
    const planned = [
      one('answer', 'before', 'at', 'parked', 'reminded', 'reminded'),
      one('note', 'before', 'at', 'parked'),
      one('note', 'before', 'at', 'parked'),
      one('bonus', 'before', 'at', 'parked', 'never'),
    ]
    return { planned, events: new Set(), isDone: false }
  }

  function send(job: string, planned: Planned, { mill, owner }: SimulatedProcess): void {
    sends += 1
    const payload = sends
    const sendAgain = (): void => send(job, planned, client)
    const givenUp = world.after(GIVEN_UP_MS, client.owner, () => owner.state !== 'alive' && sendAgain())
    mill
      .sendEvent(job, planned.name, payload)
      .then(() => recorder.note({ what: 'event acknowledged', job, payload: String(payload) }))
      .catch((error: unknown) => {
        if (isJobmillError(error) && (error.retryable || error.code === 'MILL_STOPPED'))
          world.after(RETRY_MS, client.owner, sendAgain)
        // An operator may retry the job: then the next wait asks for the event.
        else if (isJobmillError(error) && (error.code === 'JOB_ENDED' || error.code === 'JOB_UNKNOWN'))
          planned.isSent = false
        else wrong ??= new Error('an event was refused', { cause: error })
      })
      .finally(() => givenUp.cancel())
  }

  function sendSoon(job: string, chosen: (planned: Planned) => boolean): void {
    for (const planned of jobs.get(job)?.planned ?? []) {
      if (planned.isSent || !chosen(planned)) continue
      planned.isSent = true
      const worker = chance.pick(workers)
      const from = chance.isIt(0.3) && worker.owner.state === 'alive' ? worker : client
      const ms = chance.between(0, LONGEST_MS[planned.when])
      if (planned.when !== 'never') planned.when = 'at'
      world.after(ms, client.owner, () => send(job, planned, from))
    }
  }

  function seen(entry: Entry): void {
    if (entry.what === 'written') {
      const known = jobs.get(entry.job)
      // A repeated call reports the same job again.
      if (entry.kind !== STEP_KIND || known?.isDone === false) return
      jobs.set(entry.job, plan(known !== undefined))
      sendSoon(entry.job, ({ when }) => when === 'before')
      return
    }
    const waiting = 'job' in entry ? jobs.get(entry.job) : undefined
    if (waiting === undefined || !('job' in entry)) return
    const { job } = entry
    if (entry.what === 'claimed') waiting.events.clear()
    if (entry.what === 'finished' && entry.accepted && entry.state === 'done') waiting.isDone = true
    if (entry.what === 'step waits') {
      for (const event of entry.events) waiting.events.add(event)
      sendSoon(job, ({ name, when }) => when === 'at' && entry.events.includes(name))
    }
    if (entry.what === 'finished' && entry.accepted && entry.parked === true)
      sendSoon(job, ({ name, when }) => when === 'parked' && waiting.events.has(name))
    if (entry.what === 'step recorded' && entry.step === REMINDER)
      sendSoon(job, ({ when }) => when === 'reminded')
  }
  recorder.watch(seen)
  return () => {
    if (wrong !== undefined) throw wrong
  }
}
