/** Wraps each verb of a store. Other members and the transaction type stay the same. */
import type { HandedOver, StandBy } from '../../store/claim.ts'
import type { WakeUp } from '../../store/wake-up.ts'
import type { Store } from '../../store/store.ts'

/** Every member of a store that returns a promise. */
export type Verb = Exclude<
  keyof Store,
  'name' | 'callLimitBytes' | 'notify' | 'forward' | 'standBy' | 'receive'
>

/** A record instead of a list, so that the compiler reports a verb that is missing here. */
const VERBS: Readonly<Record<Verb, true>> = {
  open: true,
  close: true,
  enqueue: true,
  stage: true,
  claim: true,
  finish: true,
  progress: true,
  cancel: true,
  retry: true,
  runNow: true,
  delete: true,
  register: true,
  renew: true,
  deregister: true,
  reap: true,
  retain: true,
  fold: true,
  rollUp: true,
  record: true,
  declareQueues: true,
  changeQueue: true,
  assign: true,
  declareSchedules: true,
  createSchedule: true,
  changeSchedule: true,
  deleteSchedule: true,
  tick: true,
  scheduleFailed: true,
  declareLimits: true,
  createLimit: true,
  changeLimit: true,
  resetOverrides: true,
  deleteLimit: true,
  acquire: true,
  release: true,
  drain: true,
  get: true,
  results: true,
  holders: true,
  failures: true,
  history: true,
  list: true,
  counts: true,
  queues: true,
  instances: true,
  unservedKinds: true,
  now: true,
  position: true,
  held: true,
  duties: true,
  slots: true,
  schedules: true,
  ticks: true,
  limits: true,
  overrides: true,
  metrics: true,
  timeline: true,
  wait: true,
}

export const ALL_VERBS = Object.keys(VERBS) as readonly Verb[]

type AnyVerb = (...args: unknown[]) => Promise<unknown>

export function callVerb(store: Store<never>, verb: Verb, args: readonly unknown[]): Promise<unknown> {
  return (store[verb] as AnyVerb).apply(store, [...args])
}

/**
 * `around` makes the call or skips it. It must not await before the call: in a user transaction on SQLite the
 * write must happen inside the call.
 */
export function aroundVerbs<S extends Store<never>>(
  store: S,
  around: (verb: Verb, args: readonly unknown[]) => Promise<unknown>,
): S {
  // Inherits from the store instead of copying it: a custom store may be a class or have more members.
  const own = Object.create(store) as S
  const define = (key: string, value: unknown): void =>
    void Object.defineProperty(own, key, { value, enumerable: true })
  for (const verb of ALL_VERBS) define(verb, (...args: readonly unknown[]) => around(verb, args))
  define('name', store.name)
  define('notify', (queues: readonly string[]) => store.notify(queues))
  define('forward', (wakeUp: WakeUp) => store.forward(wakeUp))
  define('standBy', (offer: StandBy) => store.standBy(offer))
  define('receive', (instance: string, take: (handed: HandedOver) => void) => store.receive(instance, take))
  return own
}
