/** The stacks that the log shows for a failed attempt. */
import { expect, test } from 'vitest'
import type { Ended } from '../../src/job/attempt/decide.ts'
import { stackOf } from '../../src/work/stack-of.ts'

const failed = (error: unknown): Ended => ({ how: 'failed', error })

async function ask(host: string): Promise<never> {
  throw new Error(`${host} is down`, { cause: new Error(`no route to ${host}`) })
}

test('N3 the stack of an AggregateError has the stacks of its first errors', async () => {
  const error: unknown = await Promise.any(['a', 'b', 'c', 'd'].map(ask)).catch((thrown: unknown) => thrown)
  const stack = stackOf(failed(error)) ?? ''
  expect(stack).toMatch(/^AggregateError: .*\ncaused by: Error: a is down\n {4}at .*ask/)
  expect(stack.match(/^caused by: .*$/gm)).toEqual([
    'caused by: Error: a is down',
    'caused by: Error: no route to a',
    'caused by: Error: b is down',
    'caused by: Error: no route to b',
  ])
})

test('N3 an AggregateError that contains itself has a bounded stack', () => {
  const error = new AggregateError([], 'again')
  error.errors.push(error, error)
  expect(stackOf(failed(error))?.match(/AggregateError: again/g)).toHaveLength(5)
})
