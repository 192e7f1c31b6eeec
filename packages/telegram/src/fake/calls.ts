/** Handles a Bot API call: authentication, injected faults, then the method. Records every call. */
import type { Fault } from './types.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bot } from './bot.ts'
import type { Changes } from './changes.ts'
import type { MethodParts } from './method.ts'
import { methods } from './methods.ts'
import { Refusal, refusalOf } from './refusal.ts'
import { asAnswer, type Incoming, type Outgoing } from './server.ts'
import type { CallAnswer, FakeCall } from './types.ts'

/** Queues the faults that a test injects into the next calls. */
export interface Faults {
  readonly add: (method: string, faults: readonly Fault[]) => void
  readonly take: (method: string) => Fault | undefined
}

export function faults(): Faults {
  const queues = new Map<string, Fault[]>()
  return {
    add: (method, more) => {
      const name = method.toLowerCase()
      queues.set(name, [...(queues.get(name) ?? []), ...more])
    },
    take: (method) => queues.get(method.toLowerCase())?.shift() ?? queues.get('*')?.shift(),
  }
}

export interface Calls {
  readonly all: readonly FakeCall[]
  readonly answer: (call: Incoming) => Promise<Outgoing>
}

export interface CallParts {
  readonly bots: ReadonlyMap<string, Bot>
  readonly faults: Faults
  readonly changes: Changes
  readonly methodParts: Omit<MethodParts, 'gone'>
  /** Aborts delayed calls. */
  readonly closing: AbortSignal
}

export function newCalls({ bots, faults, changes, methodParts, closing }: CallParts): Calls {
  const all: (FakeCall & { answer: CallAnswer | null })[] = []

  async function answer(incoming: Incoming): Promise<Outgoing> {
    const { token: bot, method, params: payload } = incoming
    const call: (typeof all)[number] = { bot, method, payload, at: methodParts.clock(), answer: null }
    all.push(call)
    changes.notify()
    const outgoing = await outcomeOf(incoming)
    call.answer = typeof outgoing === 'string' ? outgoing : { status: outgoing.status, body: outgoing.body }
    changes.notify()
    return outgoing
  }

  async function outcomeOf({ token, method: name, params, gone }: Incoming): Promise<Outgoing> {
    const bot = bots.get(token)
    if (bot === undefined) return asAnswer(new Refusal(401, 'Unauthorized'))
    const method = methods.get(name.toLowerCase())
    if (method === undefined) return asAnswer(new Refusal(404, 'Not Found: method not found'))
    const fault = faults.take(name)
    if (fault === 'reset') return fault
    if (typeof fault === 'object' && fault.delayMs !== undefined) {
      await delay(fault.delayMs, undefined, { signal: closing }).catch(() => {})
      // A delayed call must not run after the fake was closed.
      if (closing.aborted) return 'reset'
    }
    if (typeof fault === 'object' && 'error' in fault) {
      const refused = asAnswer(refusalOf(fault))
      return fault.html === true ? { ...refused, body: `<h1>${fault.error}</h1>` } : refused
    }
    let done: Outgoing
    try {
      done = { status: 200, body: { ok: true, ...(await method(bot, params, { ...methodParts, gone })) } }
    } catch (error) {
      done = asAnswer(error)
    }
    return fault === 'lost' ? fault : done
  }

  return { all, answer }
}
