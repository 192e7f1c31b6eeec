/** The process dies between any two steps: nothing is lost, the order stays, and nobody hears twice what can be known to have arrived. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { fakeTelegram } from '../src/fake/fake-telegram.ts'
import type { FakeChat, FakeTelegram } from '../src/fake/types.ts'
import { FAULT_POINTS, type FaultPoint } from '../src/index.ts'
import { type GatewayChild, startChild } from './support/child.ts'
import { envOf, freshDatabase, saidBy, STORES } from './support/scene.ts'

const RETRY = { attempts: 2, backoff: ['0s'], jitterPercent: 0 }
const BOTS = {
  durable: { handler: 'moody', async: true, requireAuth: false, retry: RETRY },
  direct: { handler: 'moody', requireAuth: false, retry: RETRY },
  careful: { handler: 'moody', async: true, requireAuth: false, retry: RETRY, replies: 'at-most-once' },
}
type Slug = keyof typeof BOTS
const SLUGS = Object.keys(BOTS) as Slug[]
const PATIENCE_MS = 60_000

/** Which bots an update must be sent to for the process to come by this point. */
function slugsFor(point: FaultPoint): readonly Slug[] {
  if (point.startsWith('dead')) return ['durable']
  return point.startsWith('sync') ? ['direct'] : ['durable', 'careful']
}

describe.each(STORES)('a gateway on %s that is killed', (store) => {
  let fake: FakeTelegram
  let port: number
  let database: string
  let chats = 80_000
  const said = new Map<string, string[]>()
  const tokens = envOf(SLUGS)
  const tokenOf = (slug: Slug) => tokens[`BOT_${slug.toUpperCase()}_TOKEN`] ?? ''

  async function start(point: FaultPoint | 'none'): Promise<GatewayChild> {
    const yaml = {
      apiRoot: fake.url,
      listen: `127.0.0.1:${port}`,
      publicUrl: `http://127.0.0.1:${port}`,
      admin: false,
      bots: BOTS,
    }
    return startChild({ ...tokens, YAML: JSON.stringify(yaml), DATABASE_URL: database, FAULT: point })
  }

  /** Every gateway that dies is followed by one that mends what it left, and then dies at the next point itself. */
  beforeAll(async () => {
    fake = await fakeTelegram({ retryScale: 0.05 })
    for (const slug of SLUGS) fake.addBot({ token: tokenOf(slug), username: `${slug}_bot` })
    port = await freePort()
    database = freshDatabase(store)
    let before: { point: FaultPoint; talks: [Slug, FakeChat][] } | null = null
    for (const point of [...FAULT_POINTS, 'none'] as const) {
      const { child, hears } = await start(point)
      const ended = once(child, 'exit')
      if (before !== null) await mended(before)
      if (point === 'none') {
        child.kill('SIGTERM')
        await ended
        break
      }
      child.kill('SIGUSR2')
      await hears('armed')
      const talks = slugsFor(point).map((slug): [Slug, FakeChat] => [
        slug,
        fake.chat({ bot: tokenOf(slug), id: (chats += 1) }),
      ])
      const texts = point.startsWith('dead') ? ['poison'] : ['one', 'two', 'three']
      for (const [, chat] of talks) for (const text of texts) chat.says(text)
      const [, signal] = (await ended) as [unknown, string]
      if (signal !== 'SIGKILL') throw new Error(`it did not come by ${point}, and ended by ${signal}`)
      before = { point, talks }
    }
  }, 300_000)
  afterAll(() => fake.close())

  async function mended({ point, talks }: { point: FaultPoint; talks: [Slug, FakeChat][] }): Promise<void> {
    for (const [slug, chat] of talks) {
      chat.says('last')
      await chat.until((entries) => entries.some(({ text }) => text === 'did last'), PATIENCE_MS)
      // Its chat does not wait for what is told of an update that is dead.
      if (point.startsWith('dead'))
        await chat.until((entries) => entries.filter(({ by }) => by === 'bot').length >= 2, PATIENCE_MS)
      said.set(`${point} ${slug}`, saidBy(chat))
    }
  }

  const cases = FAULT_POINTS.filter((point) => !point.startsWith('dead')).flatMap((point) =>
    slugsFor(point).map((slug) => [point, slug] as const),
  )
  test.each(cases)(
    'P3 P4 at %s, %s: everything is answered, in order, and twice only where Telegram had taken it',
    (point, slug) => {
      const all = said.get(`${point} ${slug}`) ?? []
      // Whatever was sent a second time was sent right after the first.
      const distinct = all.filter((text, at) => text !== all[at - 1])
      const isCareful = slug === 'careful'
      const expected = ['did one', 'did two', 'did three', 'did last']
      expect(expected.filter((text) => distinct.includes(text))).toEqual(distinct)
      // What must not arrive twice is not sent again when nobody knows whether it arrived.
      expect(expected.length - distinct.length).toBeLessThanOrEqual(
        isCareful && point.startsWith('send') ? 1 : 0,
      )
      expect(all.length - distinct.length).toBeLessThanOrEqual(
        !isCareful && point === 'send.accepted' ? 1 : 0,
      )
    },
  )

  test('E19 at dead.begun: the user is told that it failed, once', () => {
    expect(said.get('dead.begun durable')?.toSorted()).toEqual([
      expect.stringContaining('stopped trying'),
      'did last',
    ])
  })
})
