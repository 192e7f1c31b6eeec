/** Every verb of a store by its path (`claim`, `limits.acquire`), to wrap or list them all. */
import type { FullStore, JobStore, Store } from './store.ts'
import type { WakeUp } from './types/wake-up.ts'

type Part = Exclude<keyof FullStore, keyof JobStore<unknown>>

type VerbsIn<P> = {
  [K in keyof P & string]: P[K] extends (...args: never[]) => Promise<unknown> ? K : never
}[keyof P & string]
type PartVerb = { [P in Part]: `${P}.${VerbsIn<FullStore[P]>}` }[Part]

/** Every member that returns a promise. */
export type Verb = VerbsIn<FullStore> | PartVerb

/** What a verb does to the database. Null for those whose duration says nothing about the database. */
export type VerbClass = 'read' | 'write' | 'heartbeat' | null

/** A record instead of a list, so that the compiler reports a verb that is missing here. */
export const VERBS: Readonly<Record<Verb, VerbClass>> = {
  open: null,
  close: null,
  enqueue: 'write',
  stage: 'write',
  claim: 'write',
  finish: 'write',
  progress: 'write',
  cancel: 'write',
  retry: 'write',
  runNow: 'write',
  delete: 'write',
  get: 'read',
  results: 'read',
  history: 'read',
  list: 'read',
  counts: 'read',
  retain: 'write',
  fold: 'write',
  now: 'read',
  'queues.declare': 'write',
  'queues.change': 'write',
  'queues.list': 'read',
  'instances.register': 'write',
  'instances.renew': 'heartbeat',
  'instances.deregister': 'write',
  'instances.reap': 'write',
  'instances.request': 'write',
  'instances.list': 'read',
  'instances.held': 'read',
  'instances.assign': 'write',
  'instances.slots': 'read',
  'instances.duties': 'read',
  'overrides.list': 'read',
  'overrides.reset': 'write',
  'inspect.blocker': 'read',
  'inspect.failures': 'read',
  'inspect.holders': 'read',
  'inspect.position': 'read',
  'inspect.runs': 'read',
  'inspect.unservedKinds': 'read',
  'inspect.versions': 'read',
  'schedules.declare': 'write',
  'schedules.create': 'write',
  'schedules.change': 'write',
  'schedules.delete': 'write',
  'schedules.tick': 'write',
  'schedules.failed': 'write',
  'schedules.list': 'read',
  'schedules.ticks': 'read',
  'limits.declare': 'write',
  'limits.create': 'write',
  'limits.change': 'write',
  'limits.delete': 'write',
  'limits.acquire': 'write',
  'limits.release': 'write',
  'limits.drain': 'write',
  'limits.list': 'read',
  'groups.change': 'write',
  'groups.list': 'read',
  'alerts.list': 'read',
  'alerts.put': 'write',
  'alerts.delete': 'write',
  'views.list': 'read',
  'views.add': 'write',
  'views.delete': 'write',
  'metrics.record': 'write',
  'metrics.rollUp': 'write',
  'metrics.read': 'read',
  'metrics.timeline': 'read',
  'steps.record': 'write',
  'steps.start': 'write',
  'steps.wait': 'write',
  'steps.read': 'read',
  'steps.children': 'read',
  'steps.parents': 'read',
  'steps.rewind': 'write',
  'steps.fork': 'write',
  'steps.list': 'read',
  'steps.send': 'write',
  'notifier.wait': null,
}

export const ALL_VERBS = Object.keys(VERBS) as readonly Verb[]

const PARTS = new Set(ALL_VERBS.flatMap((verb) => (verb.includes('.') ? verb.split('.')[0] : [])) as Part[])

export type AnyVerb = (...args: readonly unknown[]) => Promise<unknown>

/** The verb of this store, bound to its part. Undefined if the store does not have that part. */
export function verbOf(store: FullStore<never>, verb: Verb): AnyVerb
export function verbOf(store: Store<never>, verb: Verb): AnyVerb | undefined
export function verbOf(store: Store<never>, verb: Verb): AnyVerb | undefined {
  const [owner, name] = memberOf(store, verb)
  return owner === undefined ? undefined : (owner[name] as AnyVerb).bind(owner)
}

/**
 * The same store with some verbs wrapped. `around` returns a replacement for the verb `call`. The replacement
 * must not await anything before it runs `call`: in a user transaction on SQLite, the write must happen
 * before the call returns.
 */
export function aroundVerbs<S extends Store<never>>(
  store: S,
  verbs: readonly Verb[],
  around: (verb: Verb, call: AnyVerb) => AnyVerb,
): S {
  // Inherits instead of copying, and calls every verb on its own object: a custom store may be a class and
  // have more members.
  const own = Object.create(store) as S
  for (const part of PARTS) if (store[part] !== undefined) define(own, part, Object.create(store[part]))
  for (const verb of ALL_VERBS) {
    const [owner, name] = memberOf(own, verb)
    const call = verbOf(store, verb)
    if (owner !== undefined && call !== undefined)
      define(owner, name, verbs.includes(verb) ? around(verb, call) : call)
  }
  define(own, 'name', store.name)
  const { notifier } = store
  if (notifier === undefined) return own
  define(own.notifier, 'notify', (queues: readonly string[]) => notifier.notify(queues))
  define(own.notifier, 'forward', (wakeUp: WakeUp) => notifier.forward(wakeUp))
  if (notifier.isListening !== undefined)
    define(own.notifier, 'isListening', () => notifier.isListening?.() === true)
  return own
}

function memberOf(
  store: Store<never>,
  verb: Verb,
): [owner: Record<string, unknown> | undefined, name: string] {
  const [part = '', name] = verb.split('.')
  const members = store as unknown as Record<string, Record<string, unknown> | undefined>
  return name === undefined ? [members, part] : [members[part], name]
}

function define(owner: object | undefined, key: string, value: unknown): void {
  if (owner === undefined) return
  Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true })
}
