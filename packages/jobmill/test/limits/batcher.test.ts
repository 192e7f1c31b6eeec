/** Calls that arrive while a statement is in flight share the next one, and nothing else. */
import { expect, test } from 'vitest'
import { batcher } from '../../src/limits/ask.ts'

interface Sent {
  readonly items: readonly number[]
  readonly answer: (replies: readonly string[]) => void
  readonly fail: (error: unknown) => void
}

/** Statements that stay in flight until the test ends them. */
function statements() {
  const sent: Sent[] = []
  const call = batcher<number, string>(
    (items) => new Promise((answer, fail) => sent.push({ items, answer, fail })),
  )
  return { call, sent }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const named = ({ items }: Sent): string[] => items.map((item) => `reply ${item}`)

test('sends a call at once, and puts the calls that arrive during it into the next statement, in order', async () => {
  const { call, sent } = statements()
  const replies = [1, 2, 3, 4].map(call)
  expect(sent.map(({ items }) => items)).toEqual([[1]])
  sent[0]?.answer(['reply 1'])
  await settle()
  expect(sent.map(({ items }) => items)).toEqual([[1], [2, 3, 4]])
  const last = call(5)
  sent[1]?.answer(named(sent[1]))
  await settle()
  expect(sent[2]?.items).toEqual([5])
  sent[2]?.answer(['reply 5'])
  expect(await Promise.all([...replies, last])).toEqual([1, 2, 3, 4, 5].map((n) => `reply ${n}`))
})

test('puts at most 500 items into one statement', async () => {
  const { call, sent } = statements()
  const replies = Array.from({ length: 1_002 }, (_, n) => call(n))
  for (let at = 0; at < 4; at += 1) {
    const statement = sent[at]
    statement?.answer(named(statement))
    await settle()
  }
  expect(sent.map(({ items }) => items.length)).toEqual([1, 500, 500, 1])
  expect(await Promise.all(replies)).toHaveLength(1_002)
})

test('an error fails only the calls in its statement', async () => {
  const { call, sent } = statements()
  const first = call(1)
  const others = [2, 3].map(call)
  sent[0]?.answer(['reply 1'])
  await settle()
  const later = call(4)
  sent[1]?.fail(new Error('the connection broke'))
  await expect(Promise.allSettled(others)).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  await settle()
  sent[2]?.answer(['reply 4'])
  expect(await Promise.all([first, later])).toEqual(['reply 1', 'reply 4'])
})

test('an item without a reply fails, and its neighbors do not', async () => {
  const { call, sent } = statements()
  const first = call(1)
  const others = [2, 3].map(call)
  sent[0]?.answer(['reply 1'])
  await settle()
  sent[1]?.answer(['reply 2'])
  expect(await Promise.allSettled([first, ...others])).toMatchObject([
    { value: 'reply 1' },
    { value: 'reply 2' },
    { reason: { code: 'OUTCOME_UNKNOWN' } },
  ])
})
