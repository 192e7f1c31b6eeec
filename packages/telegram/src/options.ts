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

/** Half of the minute that Telegram waits. A slower handler belongs in an async bot. */
export const HANDLER_MS = 30_000
/** The longest delay of a timer in Node. */
const LONGEST_HANDLER_MS = 2 ** 31 - 1
/** Some settings that every config from `readConfig` has. */
const CONFIG_KEYS = ['bots', 'listen', 'retention', 'apiRoot'] as const satisfies (keyof GatewayConfig)[]

type Check = (value: unknown, field: string) => unknown

const CHECKS: Readonly<Record<keyof GatewayOptions, Check>> = {
  config: checkConfig,
  handlers: checkHandlers,
  admin: (value, field) => checkObjectKeys(value, field, ['tokens', 'authenticate', 'insecure']),
  // The mill checks it.
  log: () => {},
  fault: (value, field) =>
    checkFunction(value, field, 'Pass a function that takes the name of a fault point'),
  random: (value, field) => checkFunction(value, field, 'Pass a function such as Math.random'),
  platform: checkPlatform,
  handlerMs: (value, field) => checkWhole(value, field, { least: 1, most: LONGEST_HANDLER_MS }),
}

/**
 * Throws if an option is missing, misspelled or invalid, or if the config lacks settings that `readConfig`
 * always returns.
 */
export function checkOptions(options: GatewayOptions): void {
  checkObjectKeys(options, 'options', Object.keys(CHECKS))
  for (const [field, check] of Object.entries(CHECKS)) {
    const value = options[field as keyof GatewayOptions]
    if (value !== undefined || field === 'config') check(value, field)
  }
}

function checkHandlers(handlers: unknown, field: string): void {
  checkObjectKeys(handlers, field, Object.keys(Object(handlers) as object))
  for (const [name, handler] of Object.entries(handlers as object))
    checkFunction(handler, `${field}.${name}`, 'Pass a function that takes the context of an update')
}

function checkConfig(config: unknown, field: string): void {
  const missing =
    typeof config === 'object' && config !== null ? CONFIG_KEYS.filter((key) => !(key in config)) : null
  if (missing?.length === 0) return
  const what = missing === null ? 'is not an object' : `has no ${missing.join(', ')}`
  throw new JobmillError('OPTION_INVALID', config === undefined ? 'is missing' : what, {
    field,
    fix: 'Pass the config from readConfig({ yaml, env }), and check its problems first',
  })
}
