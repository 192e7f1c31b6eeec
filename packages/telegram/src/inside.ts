/** The shared dependencies of the gateway's parts, which are created before any of them starts. */
import type { Store } from 'jobmill'
import { systemPlatform } from 'jobmill/internal'
import type { Tables } from 'jobmill-tables'
import type { Bot } from './bots/bot.ts'
import { logTo } from './log.ts'
import { type GatewayOptions, HANDLER_MS } from './options.ts'
import { codes } from './sessions/codes.ts'
import { sessions } from './sessions/sessions.ts'
import { startedReplies } from './sessions/started-replies.ts'
import type { Schema } from './sessions/steps.ts'
import type { Shutdown } from './shutdown.ts'
import { metrics } from './work/metrics.ts'

export interface Inside extends Base {
  readonly bots: readonly Bot[]
}

export type Base = Readonly<ReturnType<typeof baseOf>>

export function baseOf(
  options: GatewayOptions,
  store: Store<never>,
  tables: Tables<Schema>,
  { stopping, hurried }: Pick<Shutdown, 'stopping' | 'hurried'>,
) {
  const { config, platform = systemPlatform, handlerMs = HANDLER_MS } = options
  // For tests.
  const { fault = () => {}, random = Math.random } = options
  const log = logTo(options.log)
  const onShut = (): void =>
    log('warn', 'too many wrong codes, the shared AUTH_SECRET is disabled for 15 minutes', {
      fix: 'create one-time codes with jobmill-telegram codes new',
    })
  return {
    config,
    /** False without a database: Telegram then keeps an update until it is answered. */
    isDurable: config.database !== null,
    tables,
    sessions: sessions(tables, config.bots),
    /** Null if AUTH_SECRET is not set. */
    codes: config.auth === null ? null : codes(tables, config.auth, { onShut }),
    replies: startedReplies(tables, store),
    metrics: metrics(config.bots.map(({ slug }) => slug)),
    log,
    platform,
    /** The time limit of a synchronous bot's handler. */
    handlerMs,
    fault,
    random,
    /** Fires when the gateway begins to stop. */
    stopping,
    /** Fires when the grace period of the stop is over. */
    hurried,
  }
}
