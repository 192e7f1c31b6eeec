// Which queues an enqueue call is about to create although no code names them.
import { expect, test } from 'vitest'
import { newQueues } from '../../src/enqueue/new-queues.ts'

const inCode = new Set(['default', 'mail'])

test('a call that names no queue, or one of the code, waits for nothing', () => {
  const { find } = newQueues({ inCode, readNames: () => Promise.reject(new Error('must not read')) })
  expect(find([{}, { queue: 'mail' }, { queue: 'default' }])).toBeUndefined()
})

test('a queue that the store has is not new; any other is, once', async () => {
  const { find } = newQueues({ inCode, readNames: async () => ['default', 'reports'] })
  expect(
    await find([{ queue: 'reports' }, { queue: 'mial' }, { queue: 'reprots' }, { queue: 'xyz' }]),
  ).toEqual([
    { queue: 'mial', near: 'mail' },
    { queue: 'reprots', near: 'reports' },
    { queue: 'xyz', near: null },
  ])
  expect(find([{ queue: 'reports' }, { queue: 'mial' }])).toBeUndefined()
})

test('calls for a queue whose lookup is running wait for it, so that they stay in order', async () => {
  const names = Promise.withResolvers<string[]>()
  const { find } = newQueues({ inCode, readNames: () => names.promise })
  const order: string[] = []
  const call = async (name: string, ...queues: string[]): Promise<unknown> => {
    const found = await find(queues.map((queue) => ({ queue })))
    order.push(name)
    return found
  }
  const calls = [
    call('first', 'reports'),
    call('second', 'reports'),
    call('third', 'invoices', 'reports'),
    call('fourth', 'invoices'),
  ]
  expect(order).toEqual([])
  names.resolve(['reports'])
  expect(await Promise.all(calls)).toEqual([[], [], [{ queue: 'invoices', near: null }], []])
  expect(order).toEqual(['first', 'second', 'third', 'fourth'])
  expect(find([{ queue: 'reports' }, { queue: 'invoices' }])).toBeUndefined()
})

test('a store that does not answer finds nothing, and the write reports it', async () => {
  const { find } = newQueues({ inCode, readNames: () => Promise.reject(new Error('down')) })
  expect(await find([{ queue: 'a' }])).toEqual([])
})

test('a process that generates names is not asked about more than a thousand', async () => {
  const { find } = newQueues({ inCode, readNames: async () => [] })
  const items = Array.from({ length: 1_001 }, (_, n) => ({ queue: `tenant-${n}` }))
  expect(await find(items)).toHaveLength(1_000)
  expect(find([{ queue: 'another' }])).toBeUndefined()
})
