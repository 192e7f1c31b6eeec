/** The options of a gateway that a program starts. */
import { JobmillError, type LogOption, type Platform } from 'jobmill'
import { checkFunction, checkObjectKeys, checkPlatform, checkWhole } from 'jobmill/internal'
import type { ServeOptions } from 'jobmill-server'
import type { GatewayConfig } from './config/config.ts'
import type { Handler } from './handlers/handler.ts'
import type { Fault } from './work/fault.ts'

export interface GatewayOptions {
  readonly config: GatewayConfig
  /** Your own handlers, which bots name in the config. */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** Access control of Mission Control, as for `serve` of jobmill-server. */
  readonly admin?: Pick<ServeOptions, 'tokens' | 'authenticate' | 'insecure'>
  /** As `log` of `jobmill()` (default: silent). */
  readonly log?: LogOption
  /** For tests. */
  readonly fault?: Fault
  readonly random?: () => number
  /** Provides the clock and the timers of the process. The database uses its own clock. */
  readonly platform?: Platform
  /** The time limit of a synchronous bot's handler (default 30 s). */
  readonly handlerMs?: number
}

const KEYS: Readonly<Record<keyof GatewayOptions, true>> = {
  config: true,
  handlers: true,
  admin: true,
  log: true,
  fault: true,
  random: true,
  platform: true,
  handlerMs: true,
}
const ADMIN_KEYS = ['tokens', 'authenticate', 'insecure'] as const
/** The longest delay of a timer in Node. */
const LONGEST_HANDLER_MS = 2 ** 31 - 1
/** Some settings that every config from `readConfig` has. */
const CONFIG_KEYS = ['bots', 'listen', 'retention', 'apiRoot'] as const satisfies (keyof GatewayConfig)[]

/**
 * Throws if an option is missing, misspelled or invalid, or if the config lacks settings that `readConfig`
 * always returns.
 */
export function checkOptions(options: GatewayOptions): void {
  checkObjectKeys(options, 'options', Object.keys(KEYS))
  checkConfig(options.config)
  const { handlers, admin, fault, random, platform, handlerMs } = options
  if (handlers !== undefined) checkHandlers(handlers)
  if (admin !== undefined) checkObjectKeys(admin, 'admin', ADMIN_KEYS)
  if (fault !== undefined)
    checkFunction(fault, 'fault', 'Pass a function that takes the name of a fault point')
  if (random !== undefined) checkFunction(random, 'random', 'Pass a function such as Math.random')
  if (platform !== undefined) checkPlatform(platform)
  if (handlerMs !== undefined) checkWhole(handlerMs, 'handlerMs', { least: 1, most: LONGEST_HANDLER_MS })
}

function checkHandlers(handlers: unknown): void {
  checkObjectKeys(handlers, 'handlers', Object.keys(Object(handlers) as object))
  for (const [name, handler] of Object.entries(handlers as object))
    checkFunction(handler, `handlers.${name}`, 'Pass a function that takes the context of an update')
}

function checkConfig(config: unknown): void {
  const missing =
    typeof config === 'object' && config !== null ? CONFIG_KEYS.filter((key) => !(key in config)) : null
  if (missing?.length === 0) return
  const what =
    config === undefined
      ? 'is missing'
      : missing === null
        ? 'is not an object'
        : `has no ${missing.join(', ')}`
  throw new JobmillError('OPTION_INVALID', what, {
    field: 'config',
    fix: 'Pass the config from readConfig({ yaml, env }), and check its problems first',
  })
}
