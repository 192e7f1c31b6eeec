/** What is said, printed as it is said; and whether it was what should have been said. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Gateway } from 'jobmill-telegram'
import type { FakeChat, FakeTelegram } from 'jobmill-telegram/fake'

interface Stage {
  readonly telegram: FakeTelegram
  readonly gateway: Gateway
  readonly code: string
}

const ADA = { id: 42, first_name: 'Ada' }
const PATIENCE_MS = 60_000

export async function conversation({ telegram, gateway, code }: Stage): Promise<boolean> {
  let isWell = true
  const chats = new Map(
    gateway.bots.map((bot) => [bot.slug, telegram.chat({ bot: bot.token, id: ADA.id, user: ADA })]),
  )
  const chatWith = (slug: string): FakeChat => {
    const chat = chats.get(slug)
    if (chat === undefined) throw new Error(`there is no bot ${slug}`)
    return chat
  }

  /** Says it, waits for the answer, and holds it against what is expected. */
  async function says(slug: string, text: string, expected: RegExp, shown = text): Promise<void> {
    const chat = chatWith(slug)
    const before = chat.transcript().length
    console.log(`  Ada → ${slug.padEnd(8)} ${shown}`)
    chat.says(text)
    const all = await chat.until(
      (entries) => entries.slice(before).some(({ by }) => by === 'bot'),
      PATIENCE_MS,
    )
    for (const { text: answer } of all.slice(before).filter(({ by }) => by === 'bot')) {
      const fits = expected.test(answer)
      isWell &&= fits
      console.log(
        `  ${slug.padEnd(8)} → Ada ${answer.replaceAll('\n', ' ')}${fits ? '' : `   !! expected ${String(expected)}`}`,
      )
    }
  }

  console.log('Without a session:')
  await says('parrot', 'Polly?', /Please log in first/)
  console.log('\nLogging in, with a code that works once:')
  await says('door', '/auth 12345', /not valid/)
  await says('door', `/auth ${code}`, /Welcome/, '/auth ************')
  await chatWith('door').until(
    (entries) => entries.filter(({ deleted }) => deleted).length === 2,
    PATIENCE_MS,
  )
  console.log('  (both messages with a code are gone from the chat)')
  console.log('\nA bot that answers at once, one that asks a service, one that runs a program for a while:')
  await says('parrot', 'Polly?', /^Polly\?$/)
  await says('weather', 'Lisbon', /sunny/)
  await says('report', '/report', /42 pages/)
  console.log('\nAn update that fails three times, and then is dead:')
  await says('trouble', '/print', /would not work/)
  console.log('\nTelegram did not hear the answer, and sends two updates again:')
  for (const slug of ['parrot', 'weather']) {
    const { token } = gateway.bots.find((bot) => bot.slug === slug) ?? { token: '' }
    const last = telegram.deliveries.findLast((one) => one.bot === token)
    const before = chatWith(slug).transcript().length
    const { status } = await telegram.redeliver(last?.updateId ?? 0, { bot: token })
    isWell &&= status === 200 && chatWith(slug).transcript().length === before
    console.log(`  ${slug.padEnd(8)} answered ${status}, and did nothing`)
  }
  await says('door', '/logout', /over/)
  // A reply is counted when its job has ended, a moment after it arrived.
  while (((await gateway.mill?.list({ state: 'running' }))?.jobs.length ?? 0) > 0) await pause(20)
  const figures = (await gateway.mill?.prometheus()) ?? ''
  console.log('\nWhat was counted:')
  for (const line of figures
    .split('\n')
    .filter((one) => /^jobmill_telegram_(?:updates|sends)_total.* [1-9]/.test(one)))
    console.log(`  ${line}`)
  console.log(
    isWell
      ? '\nEverything was as it should be.'
      : '\nSomething was not as it should be: see the lines with !!',
  )
  return isWell
}
