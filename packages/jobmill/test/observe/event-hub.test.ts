// Events and their listeners: no listener can break, change or delay anything.
import { describe, expect, test } from 'vitest'
import type { MillEvent } from '../../src/job/events.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { eventHub } from '../../src/observe/event-hub.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { refusal } from '../unit/support.ts'

const queue = (name: string) => ({ queue: name })
const names = (events: readonly MillEvent[]): string[] =>
  events.map((event) => ('queue' in event ? event.queue : event.type))

describe('an event hub', () => {
  test('delivers each event to the listeners of its type and of all, in order, with type and time', async () => {
    const platform = testPlatform()
    const hub = eventHub(platform)
    const [all, own, other]: MillEvent[][] = [[], [], []]
    hub.on('*', (event) => all?.push(event))
    hub.on('queue-changed', (event) => own?.push(event))
    hub.on('queue-resumed', (event) => other?.push(event))
    hub.emit('queue-changed', queue('a'))
    hub.emit('queue-changed', queue('b'))
    await hub.delivered()
    expect(all).toEqual([
      { type: 'queue-changed', queue: 'a', at: platform.now() },
      { type: 'queue-changed', queue: 'b', at: platform.now() },
    ])
    expect(own).toEqual(all)
    expect(other).toEqual([])
  })

  test.each([
    ['completed', 'Did you mean "finished"? Use one of: *, enqueued, '],
    ['failed', 'Did you mean "dead", or "retried" for an attempt that will be retried? Use one of: *, '],
    ['mill-stoped', 'Did you mean "mill-stopped"? Use one of: *, '],
    ['no such event', 'Use one of: *, enqueued, '],
    ['toString', 'Use one of: *, enqueued, '],
  ])('refuses a listener for the unknown event %s', (type, fix) => {
    const { message, ...error } = refusal(() => eventHub(systemPlatform).on(type as never, () => {}))
    expect(error).toMatchObject({ code: 'OPTION_INVALID', field: 'type', value: `"${type}"` })
    expect(error.fix?.startsWith(fix)).toBe(true)
    expect(message).toContain('type: is not an event')
  })

  test('calls listeners in a later event loop turn, never inside emit', async () => {
    const hub = eventHub(systemPlatform)
    const events: string[] = []
    hub.on('*', () => events.push('listener'))
    hub.emit('queue-changed', queue('a'))
    events.push('after emit')
    await Promise.resolve()
    events.push('a microtask later')
    await hub.delivered()
    expect(events).toEqual(['after emit', 'a microtask later', 'listener'])
  })

  test('keeps no events without listeners, but counts them', async () => {
    const hub = eventHub(systemPlatform, 1)
    for (let n = 0; n < 10; n += 1) hub.emit('queue-changed', queue('a'))
    await hub.delivered()
    expect(hub.counts).toEqual({ dropped: 0, errors: 0, emitted: { 'queue-changed': 10 } })
    const events: MillEvent[] = []
    hub.on('*', (event) => events.push(event))
    await hub.delivered()
    expect(events).toEqual([])
  })

  test('counts the error of a listener that throws, and delivers further events to it and the others', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    let thrown = 0
    hub.on('queue-changed', () => {
      thrown += 1
      throw new Error('listener')
    })
    hub.on('queue-changed', (event) => events.push(event))
    hub.on('*', (event) => events.push(event))
    for (const name of ['a', 'b']) hub.emit('queue-changed', queue(name))
    await hub.delivered()
    expect([thrown, hub.counts.errors, names(events)]).toEqual([2, 2, ['a', 'a', 'b', 'b']])
  })

  test('counts the error of a listener that rejects, without an unhandled rejection', async () => {
    const hub = eventHub(systemPlatform)
    hub.on('*', () => Promise.reject(new Error('listener')))
    hub.on('*', async () => {
      await Promise.resolve()
      throw new Error('later')
    })
    hub.emit('queue-changed', queue('a'))
    await hub.delivered()
    await new Promise((resolve) => setImmediate(resolve))
    expect(hub.counts.errors).toBe(2)
  })

  test('does not let a listener that never ends delay other listeners or events', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    hub.on('*', () => new Promise(() => {}))
    hub.on('*', (event) => events.push(event))
    for (const name of ['a', 'b', 'c']) hub.emit('queue-changed', queue(name))
    await hub.delivered()
    expect(names(events)).toEqual(['a', 'b', 'c'])
  })

  test('keeps the first events that fit the buffer, and drops and counts the others', async () => {
    const hub = eventHub(systemPlatform, 3)
    const events: MillEvent[] = []
    hub.on('*', (event) => events.push(event))
    for (const name of ['a', 'b', 'c', 'd', 'e']) hub.emit('queue-changed', queue(name))
    await hub.delivered()
    expect([names(events), hub.counts.dropped]).toEqual([['a', 'b', 'c'], 2])
    hub.emit('queue-changed', queue('f'))
    await hub.delivered()
    expect([names(events).at(-1), hub.counts.dropped]).toEqual(['f', 2])
  })

  test('yields to the event loop between hundreds of events', async () => {
    const hub = eventHub(systemPlatform)
    const turns: number[] = []
    let turn = 0
    let counting = true
    const count = (): void => {
      turn += 1
      if (counting) setImmediate(count)
    }
    hub.on('*', () => turns.push(turn))
    for (let n = 0; n < 1_000; n += 1) hub.emit('queue-changed', queue('a'))
    setImmediate(count)
    await hub.delivered()
    counting = false
    expect(turns).toHaveLength(1_000)
    expect(new Set(turns).size).toBe(5)
  })

  test('delivers an event that a listener emits after the buffered ones, and waits for it', async () => {
    const hub = eventHub(systemPlatform)
    const events: string[] = []
    hub.on('queue-changed', ({ queue: name }) => {
      events.push(name)
      if (name === 'a') hub.emit('queue-changed', queue('from a listener'))
    })
    for (const name of ['a', 'b']) hub.emit('queue-changed', queue(name))
    await hub.delivered()
    expect(events).toEqual(['a', 'b', 'from a listener'])
  })
})

describe('the function that `on` returns', () => {
  test('removes the listener at once, even for buffered events, and can be called twice', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    const end = hub.on('*', (event) => events.push(event))
    const stays: MillEvent[] = []
    hub.on('*', (event) => stays.push(event))
    hub.emit('queue-changed', queue('a'))
    end()
    end()
    await hub.delivered()
    expect([names(events), names(stays)]).toEqual([[], ['a']])
  })

  test('removes one of two registrations of the same function', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    const listener = (event: MillEvent): void => void events.push(event)
    const end = hub.on('*', listener)
    hub.on('*', listener)
    hub.emit('queue-changed', queue('a'))
    await hub.delivered()
    end()
    hub.emit('queue-changed', queue('b'))
    await hub.delivered()
    expect(names(events)).toEqual(['a', 'a', 'b'])
  })

  test('can be called inside the listener', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    const end = hub.on('*', (event) => {
      events.push(event)
      end()
    })
    for (const name of ['a', 'b']) hub.emit('queue-changed', queue(name))
    await hub.delivered()
    expect(names(events)).toEqual(['a'])
  })
})

describe('a tap', () => {
  test('is called inside emit for every event, even for those that no listener gets', async () => {
    const hub = eventHub(systemPlatform, 2)
    const tapped: [string, object][] = []
    hub.tap((type, event) => tapped.push([type, event]))
    hub.on('*', () => {})
    for (const name of ['a', 'b', 'c']) hub.emit('queue-changed', queue(name))
    expect(tapped).toEqual([
      ['queue-changed', { queue: 'a' }],
      ['queue-changed', { queue: 'b' }],
      ['queue-changed', { queue: 'c' }],
    ])
    expect(hub.counts.dropped).toBe(1)
    await hub.delivered()
    expect(tapped).toHaveLength(3)
  })

  test('that throws is counted, and affects no listener', async () => {
    const hub = eventHub(systemPlatform)
    const events: MillEvent[] = []
    const tapped: string[] = []
    hub.tap(() => {
      throw new Error('tap')
    })
    hub.tap((type) => tapped.push(type))
    hub.on('*', (event) => events.push(event))
    hub.emit('queue-changed', queue('a'))
    await hub.delivered()
    expect([tapped, names(events), hub.counts.errors]).toEqual([['queue-changed'], ['a'], 1])
  })
})
