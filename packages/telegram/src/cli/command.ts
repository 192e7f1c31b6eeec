/** What a command of the gateway is. */
import type { Given, Lines, Shape } from 'jobmill/cli'
import type { Env } from '../config/secrets.ts'

/** Where it says something, and what it finds in the environment. */
export interface Io extends Lines {
  readonly env: Env
}

export interface Command extends Shape {
  readonly run: (given: Given, io: Io) => Promise<number>
}
