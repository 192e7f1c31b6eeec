/** Processes that freeze, crash or stop: the update is answered once, or the user is notified. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { freshFile } from '../../../test/support/databases.ts'
import { freePort } from '../../../test/support/free-port.ts'
import type { FakeTelegram } from '../src/fake/types.ts'
import { type GatewayChild, startChild } from './support/child.ts'
import { patientTelegram } from './support/patient-telegram.ts'
import { envOf, freshDatabase, saidBy, STORES, type StoreName } from './support/scene.ts'

const BOTS = { durable: { handler: 'moody', async: true, requireAuth: false } }

/** Stops it and returns its exit code. */
async function stop({ child, ended }: GatewayChild): Promise<unknown> {
  child.kill('SIGTERM')
  return (await ended)[0]
}

describe.each(inFull<readonly StoreName[]>(STORES, ['sqlite']))('processes on %s', (store) => {
  const test = inTurns(store, STORES)
  let fake: FakeTelegram
  let database: string
  let port: number
  let chats = 90_000
  const tokens = envOf(['durable'])
  const { BOT_DURABLE_TOKEN: token = '' } = tokens

  beforeAll(async () => {
    fake = await patientTelegram({ retryScale: 0.05 })
    fake.addBot({ token, username: 'durable_bot' })
    database = freshDatabase(store)
    port = await freePort()
  })
  afterAll(() => fake.close())

  /** All processes use one webhook address. */
  async function start({ isDoor = true, leaseMs = 3_000 } = {}): Promise<GatewayChild> {
    const listen = isDoor ? `127.0.0.1:${port}` : '127.0.0.1:0'
    const yaml = {
      apiRoot: fake.url,
      listen,
      ...(isDoor ? { publicUrl: `http://${listen}` } : {}),
      admin: false,
      bots: BOTS,
    }
    return startChild({
      ...tokens,
      YAML: JSON.stringify(yaml),
      DATABASE_URL: database,
      LEASE_MS: String(leaseMs),
    })
  }

  test('P2 E1 E2 E5 a job longer than a lease runs once; writes of a frozen process are refused', async () => {
    const chat = fake.chat({ bot: token, id: (chats += 1) })
    const first = await start()
    chat.says('slow 4000')
    await first.hears('slow')
    // A second process starts and leaves the running job alone.
    const second = await start({ isDoor: false })
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual(['did slow 4000'])

    // The process that gets the next update freezes for longer than its lease, and the other one takes over.
    const still = `pause for ${freshFile()}.first`
    chat.says(still)
    const both = [first, second].map(async (one) => {
      await one.hears('still')
      return one
    })
    const stuck = await Promise.race(both)
    await Promise.all(both)
    await chat.until((all) => all.some(({ text }) => text === `did ${still}`))
    stuck.child.kill('SIGCONT')
    chat.says('after')
    await chat.until((all) => all.some(({ text }) => text === 'did after'))
    expect(saidBy(chat)).toEqual(['did slow 4000', `did ${still}`, 'did after'])
    expect(await Promise.all([stop(first), stop(second)])).toEqual([0, 0])
  })

  // In `npm test`, mill-processes.test.ts covers three crashes, and crash.test.ts the notice to the user.
  test.nightly(
    'P5 E3 an update that kills its process is dead after three crashes, and the user is notified',
    async () => {
      const chat = fake.chat({ bot: token, id: (chats += 1) })
      // The next process waits for the end of this lease, and for one of its own.
      let gateway = await start({ leaseMs: 1_000 })
      chat.says('die')
      for (let deaths = 0; deaths < 3; deaths += 1) {
        await gateway.ended
        gateway = await start({ leaseMs: 1_000 })
      }
      chat.says('alive?')
      await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
      expect(saidBy(chat)).toEqual([expect.stringContaining('something went wrong'), 'did alive?'])
      expect(await stop(gateway)).toBe(0)
    },
  )

  // Other shutdown tests are in watching.test.ts and cli.test.ts.
  test.nightly('P6 E26 a stopping process finishes its running jobs and takes no new ones', async () => {
    const chat = fake.chat({ bot: token, id: (chats += 1) })
    const gateway = await start()
    chat.says('slow 1500')
    await gateway.hears('slow')
    expect(await stop(gateway)).toBe(0)
    const next = await start()
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    expect(saidBy(chat)).toEqual(['did slow 1500'])
    expect(await stop(next)).toBe(0)
  })
})
