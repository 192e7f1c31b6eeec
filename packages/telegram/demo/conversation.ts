/** Runs the demo conversation, prints it, and checks each answer against the expected one. */
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
    if (chat === undefined) throw new Error(`unknown bot ${slug}`)
    return chat
  }

  /** Sends a message, waits for the answer, and compares it with the expected pattern. */
  async function says(slug: string, text: string, expected: RegExp, label = text): Promise<void> {
    const chat = chatWith(slug)
    const before = chat.transcript().length
    console.log(`  Ada → ${slug.padEnd(8)} ${label}`)
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

  console.log('No session yet:')
  await says('parrot', 'Polly?', /Please log in first/)
  console.log('\nLogging in with a one-time code:')
  await says('door', '/auth 12345', /not valid/)
  await says('door', `/auth ${code}`, /Welcome/, '/auth ************')
  await chatWith('door').until(
    (entries) => entries.filter(({ deleted }) => deleted).length === 2,
    PATIENCE_MS,
  )
  console.log('  (both messages with a code were deleted from the chat)')
  console.log('\nAn instant bot, a bot that calls a service, and a bot that runs a slow program:')
  await says('parrot', 'Polly?', /^Polly\?$/)
  await says('weather', 'Lisbon', /sunny/)
  await says('report', '/report', /42 pages/)
  console.log('\nAn update that fails three times and is then dead:')
  await says('trouble', '/print', /failed three times/)
  console.log('\nTelegram lost the response and delivers two updates again:')
  for (const slug of ['parrot', 'weather']) {
    const { token } = gateway.bots.find((bot) => bot.slug === slug) ?? { token: '' }
    const last = telegram.deliveries.findLast((one) => one.bot === token)
    const before = chatWith(slug).transcript().length
    const { status } = await telegram.redeliver(last?.updateId ?? 0, { bot: token })
    isWell &&= status === 200 && chatWith(slug).transcript().length === before
    console.log(`  ${slug.padEnd(8)} answered ${status} and ignored the duplicate`)
  }
  await says('door', '/logout', /logged out/)
  // A reply is counted when its job ends, shortly after it arrives.
  while (((await gateway.mill.list({ state: 'running' })).jobs.length ?? 0) > 0) await pause(20)
  const figures = await gateway.mill.prometheus()
  console.log('\nMetrics:')
  for (const line of figures
    .split('\n')
    .filter((one) => /^jobmill_telegram_(?:updates|sends)_total.* [1-9]/.test(one)))
    console.log(`  ${line}`)
  console.log(
    isWell ? '\nAll answers were as expected.' : '\nSome answers were not as expected: see the lines with !!',
  )
  return isWell
}
