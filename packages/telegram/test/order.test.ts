/**
 * Updates of a chat run one after the other, in order, even across failures; chats run in parallel. On both
 * stores.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import { anUpdate, saidBy, scene, type Scene, STORES } from './support/scene.ts'

describe.each(STORES)('order on %s', (store) => {
  const test = inTurns(store, STORES)
  let at: Scene
  let fails = 0
  let mayLoosely = false
  const ran: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()

  beforeAll(async () => {
    at = await scene({
      store,
      handlers: {
        async careful({ text, chatId, reply }) {
          ran.push(`${chatId} ${text}`)
          await gates.get(text)?.promise
          const isTooEarly =
            text === 'fails loosely' ? !mayLoosely : text.startsWith('fails') && (fails += 1) < 3
          if (text === 'poison' || isTooEarly) throw new Error('not now')
          reply(`did ${text}`)
        },
      },
      bots: {
        ordered: {
          handler: 'careful',
          async: true,
          requireAuth: false,
          retry: { attempts: 3, backoff: ['0s'], jitterPercent: 0 },
          deadNotice: 'Gave up.',
        },
        loose: {
          handler: 'careful',
          async: true,
          ordered: false,
          requireAuth: false,
          retry: { attempts: 900, backoff: ['1s'], jitterPercent: 0 },
        },
      },
    })
  })
  afterAll(() => at.stop())

  test('E16 a failing update is not overtaken by the next one of its chat; other chats continue', async () => {
    const [chat, other] = [at.chat('ordered'), at.chat('ordered')]
    fails = 0
    for (const text of ['fails at first', 'second', 'third'])
      await at.post('ordered', anUpdate(text, { userId: chat.id }))
    await at.post('ordered', anUpdate('elsewhere', { userId: other.id }))
    await other.until((all) => all.some(({ by }) => by === 'bot'))
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 3)
    expect(saidBy(chat)).toEqual(['did fails at first', 'did second', 'did third'])
    const mine = ran
      .filter((one) => one.startsWith(`${chat.id} `))
      .map((one) => one.slice(String(chat.id).length + 1))
    expect(mine).toEqual(['fails at first', 'fails at first', 'fails at first', 'second', 'third'])
  })

  test('E17 a slow update delays only its own chat', async () => {
    const gate = Promise.withResolvers<void>()
    gates.set('slow', gate)
    const [chat, other] = [at.chat('ordered'), at.chat('ordered')]
    await at.post('ordered', anUpdate('slow', { userId: chat.id }))
    await at.post('ordered', anUpdate('after it', { userId: chat.id }))
    await expect.poll(() => ran).toContain(`${chat.id} slow`)
    await at.post('ordered', anUpdate('quick', { userId: other.id }))
    await other.until((all) => all.some(({ by }) => by === 'bot'))
    expect(ran).not.toContain(`${chat.id} after it`)
    gate.resolve()
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['did slow', 'did after it'])
  })

  test('A10 E19 a dead update unblocks its chat, and the user is notified once, before any later answer', async () => {
    const chat = at.chat('ordered')
    const poison = anUpdate('poison', { userId: chat.id })
    await at.post('ordered', poison)
    await at.post('ordered', anUpdate('next', { userId: chat.id }))
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['Gave up.', 'did next'])
    const { jobs } = await at.gateway.mill.list({ state: 'dead', queue: 'telegram.ordered' })
    expect(jobs).toHaveLength(1)
    // E10: the error of each attempt is kept.
    const history = await at.gateway.mill.history(jobs[0]?.id ?? '')
    expect(history.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed'])
    // E14: a repeat of a dead update is a duplicate.
    expect(await (await at.post('ordered', poison)).json()).toEqual({ ok: true, result: 'duplicate' })
    // E23: a dead update can be retried by hand.
    expect(await at.gateway.mill.retry(jobs[0]?.id ?? '')).toMatchObject({ verdict: 'changed' })
    await chat.until((all) => all.filter(({ text }) => text === 'Gave up.').length === 2)
  })

  test('without order the next one goes first', async () => {
    const chat = at.chat('loose')
    await at.post('loose', anUpdate('fails loosely', { userId: chat.id }))
    await at.post('loose', anUpdate('overtakes', { userId: chat.id }))
    await chat.until((all) => all.some(({ by }) => by === 'bot'))
    mayLoosely = true
    await chat.until((all) => all.filter(({ by }) => by === 'bot').length === 2)
    expect(saidBy(chat)).toEqual(['did overtakes', 'did fails loosely'])
  })
})
