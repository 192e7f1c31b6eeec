/** Handles a Bot API call: authentication, injected faults, then the method. Records every call. */
import type { Fault } from './types.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bot } from './bot.ts'
import type { World } from './methods/method.ts'
import { methods } from './methods/methods.ts'
import { Refusal, refusalOf } from './refusal.ts'
import { asAnswer, type Incoming, type Outgoing } from './server.ts'
import type { CallAnswer, FakeCall } from './types.ts'

type Faults = ReturnType<typeof faults>

/** Queues the faults that a test injects into the next calls. */
export function faults() {
  const queues = new Map<string, Fault[]>()
  return {
    add: (method: string, more: readonly Fault[]): void => {
      const name = method.toLowerCase()
      queues.set(name, [...(queues.get(name) ?? []), ...more])
    },
    take: (method: string): Fault | undefined =>
      queues.get(method.toLowerCase())?.shift() ?? queues.get('*')?.shift(),
  }
}

export function newCalls(bots: ReadonlyMap<string, Bot>, faults: Faults, world: World) {
  const { changes, clock, closing } = world
  /** In the order of arrival. */
  const all: (FakeCall & { answer: CallAnswer | null })[] = []

  async function answer(incoming: Incoming): Promise<Outgoing> {
    const { token: bot, method, params: payload } = incoming
    const call: (typeof all)[number] = { bot, method, payload, at: clock(), answer: null }
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
      // A delayed call must not run after the fake server was closed.
      if (closing.aborted) return 'reset'
    }
    if (typeof fault === 'object' && 'error' in fault) {
      const refused = asAnswer(refusalOf(fault))
      return fault.html === true ? { ...refused, body: `<h1>${fault.error}</h1>` } : refused
    }
    let done: Outgoing
    try {
      done = { status: 200, body: { ok: true, ...(await method(bot, params, world, gone)) } }
    } catch (error) {
      done = asAnswer(error)
    }
    return fault === 'lost' ? fault : done
  }

  return { all, answer }
}
