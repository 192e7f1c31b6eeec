/** The probes of a worker without the API: other clients cannot keep a process manager from them. */
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { serveProbes } from '../../src/probes/probes.ts'
import { jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { connected, exchange, head } from '../../../server/test/raw.ts'

const HEALTH = ['GET /healthz HTTP/1.1', 'host: localhost', 'connection: close']

async function probes(): Promise<string> {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  const { url, close } = await serveProbes(mill, { port: 0, bind: '127.0.0.1' })
  onTestFinished(async () => {
    await close()
    await mill.stop()
  })
  return url
}

test.each([
  ['send nothing', ''],
  ['send half a header', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
])('S1 N17 a liveness probe is answered although 150 connections %s', async (_, sent) => {
  const url = await probes()
  const first = await connected(url)
  const closed = once(first.resume(), 'close')
  first.write(sent)
  for (let n = 1; n < 150; n += 1) (await connected(url)).resume().write(sent)
  expect((await exchange(url, HEALTH)).status).toBe(200)
  // The longest idle connection made room.
  await closed
})

test('S1 N17 a connection that is in use outlives idle ones', async () => {
  const url = await probes()
  const used = await connected(url)
  for (let n = 0; n < 150; n += 1) {
    const answered = once(used, 'data')
    used.write(head(HEALTH.slice(0, 2)))
    expect(String(await answered)).toMatch(/^HTTP\/1.1 200 /)
    const idle = await connected(url)
    idle.resume()
  }
})
