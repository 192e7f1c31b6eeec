// Runs an example as a separate program in its own folder, and compares what it prints.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished } from 'vitest'
import { killAtEnd } from '../support/programs/kill-at-end.ts'
import { withJobmill } from '../support/programs/programs.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

export const TIMEOUT_MS = 180_000

export type Place = 'sqlite' | 'postgres'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  /** Its whole output, for error messages. */
  readonly output: string
}

type Run = (
  file: string,
  place: Place,
  env?: Record<string, string>,
  cwd?: string,
  args?: readonly string[],
) => Promise<Ended>

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-example-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Call it once per test file. An example uses fixed names for tables and schema, so the examples of a file
 * get their own database.
 */
export function exampleRunner(): Run {
  const database = `examples_${randomBytes(6).toString('hex')}`
  beforeAll(() => onServer(`create database ${database}`))
  afterAll(() => onServer(`drop database ${database} with (force)`))
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${database}`
  return async (file, place, env = {}, cwd = freshFolder(), args = []) => {
    const { DATABASE_URL: _outer, ...inherited } = process.env
    const node = withJobmill()
    const child = spawn(process.execPath, [...node.args, resolve(examples, file), ...args], {
      cwd,
      env: {
        ...inherited,
        ...node.env,
        ...(place === 'postgres' ? { DATABASE_URL: url.href } : {}),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    killAtEnd(child)
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ])
    return { code, stdout, output: `${stdout}\n${stderr}` }
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The lines, in this order. */
export function expectToShow({ code, stdout, output }: Ended, shows: readonly string[]): void {
  expect({ code, output }).toMatchObject({ code: 0 })
  let rest = stdout
  for (const line of shows) {
    expect(rest).toContain(line)
    rest = rest.slice(rest.indexOf(line) + line.length)
  }
}
