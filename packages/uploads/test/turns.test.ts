import { systemPlatform } from 'jobmill/internal'
import { testPlatform } from 'jobmill/testing'
import { expect, test } from 'vitest'
import { turns } from '../src/http/turns.ts'
import { mailbox, scene } from './support/inboxes.ts'
import { answerOf, chunk, END, openUpload, partOf } from './support/raw.ts'

test('no more bodies are read at once than there are turns, and the next is read when one has ended', async () => {
  const reading = turns(systemPlatform, 2)
  const [a, b, c] = [reading.newTurn('a'), reading.newTurn('a'), reading.newTurn('a')]
  await Promise.all([a.mine(), b.mine()])
  const third = c.mine()
  expect(reading.running()).toBe(2)
  a.end()
  await third
  expect(reading.running()).toBe(2)
  // A body that has its turn continues without waiting.
  await c.mine()
  b.end()
  c.end()
  expect(reading.running()).toBe(0)
})

test('a body that ends while waiting takes no turn', async () => {
  const reading = turns(systemPlatform, 1)
  const [a, gone, c] = [reading.newTurn('a'), reading.newTurn('a'), reading.newTurn('a')]
  await a.mine()
  const waited = gone.mine()
  const third = c.mine()
  gone.end()
  await waited
  expect(reading.running()).toBe(1)
  a.end()
  await third
  // Requested and ended in the same event loop turn.
  const d = reading.newTurn('a')
  const fourth = d.mine()
  c.end()
  d.end()
  await fourth
  expect(reading.running()).toBe(0)
})

test('a turn ends after a quarter of a second if others are waiting, even for a steady sender', async () => {
  const platform = testPlatform()
  const reading = turns(platform, 1)
  const [steady, other] = [reading.newTurn('a'), reading.newTurn('a')]
  await steady.mine()
  await platform.advance(249)
  await steady.mine()
  let isRead = false
  const waiting = other.mine().then(() => (isRead = true))
  await platform.advance(2)
  const again = steady.mine()
  await waiting
  expect(isRead).toBe(true)
  other.end()
  await again
  steady.end()
})

test('mailboxes take turns, however many bodies one has waiting', async () => {
  const reading = turns(systemPlatform, 1)
  const first = reading.newTurn('many')
  await first.mine()
  const read: string[] = []
  const waiting = ['many 1', 'many 2', 'many 3', 'few 1', 'other 1', 'few 2'].map(async (name) => {
    const turn = reading.newTurn(name.split(' ')[0] ?? '')
    await turn.mine()
    read.push(name)
    turn.end()
  })
  // The last body that ends removes its mailbox from the rotation.
  const gone = reading.newTurn('gone')
  waiting.push(gone.mine())
  gone.end()
  first.end()
  await Promise.all(waiting)
  expect(read).toEqual(['many 1', 'few 1', 'other 1', 'many 2', 'few 2', 'many 3'])
  expect(reading.running()).toBe(0)
})

test('silent senders delay no other upload, and finish when they continue', async () => {
  const here = await scene('sqlite', { uploadsPerMailbox: 100 })
  try {
    const box = await mailbox(here)
    const request = { url: here.url, path: `/mailboxes/${box.id}/uploads`, token: box.token }
    const slow = await Promise.all(
      Array.from({ length: 24 }, async (_, n) => {
        const socket = await openUpload({ ...request, headers: { 'transfer-encoding': 'chunked' } })
        const part = partOf('files', `${n}.txt`, `slow ${n}`)
        socket.write(chunk(part.slice(0, 90)))
        return { socket, rest: part.slice(90) }
      }),
    )
    expect((await box.upload([{ bytes: 'quick' }])).status).toBe(200)
    const answers = await Promise.all(
      slow.map(({ socket, rest }) => {
        socket.write(chunk(rest + END) + chunk(''))
        return answerOf(socket)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(slow.map(() => 200))
  } finally {
    await here.close()
  }
})
