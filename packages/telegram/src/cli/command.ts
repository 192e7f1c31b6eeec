/** The type of a gateway command. */
import type { Given, Lines, Shape } from 'jobmill/cli'
import type { Env } from '../config/secrets.ts'

/** The output and the environment of a command. */
export interface Io extends Lines {
  readonly env: Env
}

export interface Command extends Shape {
  readonly run: (given: Given, io: Io) => Promise<number>
}
