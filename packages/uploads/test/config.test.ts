/** The config: YAML and the environment above it, every problem at once with its place. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigInvalid, readConfig, variableOf } from '../src/config/read-config.ts'
import { NAMES } from '../src/config/shape.ts'
import { freshFile } from '../../../test/support/databases.ts'

function fileOf(text: string): string {
  const file = path.join(path.dirname(freshFile()), 'inbox.yaml')
  writeFileSync(file, text)
  return file
}

function problemsOf(file: string | undefined, env: Record<string, string> = {}): string[] {
  try {
    readConfig(file, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return error.problems.map(({ place, message }) => `${place.replace(/^.*\//, '')}: ${message}`)
  }
}

describe('a config', () => {
  test('is read from YAML, and the environment counts more', () => {
    const file = fileOf(`
database: files.db
maxFileBytes: 10MiB
quotaFiles: none
expireAfter: 36h
ackRetention: 0
figuresByMailbox: true
job: { kind: file.received, queue: files }
`)
    expect(
      readConfig(file, { DATABASE_URL: 'postgres://here/db', UPLOADS_PORT: '9000', UPLOADS_BLOBS: ' ' }),
    ).toEqual({
      database: 'postgres://here/db',
      maxFileBytes: 10 * 1_024 ** 2,
      quotaFiles: 'none',
      expireAfter: 36 * 3_600_000,
      ackRetention: 0,
      figuresByMailbox: true,
      port: 9_000,
      job: { kind: 'file.received', queue: 'files' },
    })
    expect(readConfig(fileOf(''), {})).toEqual({})
    expect(variableOf('maxRequestBytes')).toBe('UPLOADS_MAX_REQUEST_BYTES')
    expect(new Set(NAMES.map(variableOf)).size).toBe(NAMES.length)
  })

  test('tells everything that is wrong at once, each with its place and what to do', () => {
    const file = fileOf(
      'port: 99999\nackRetention: -1s\nquotaBytes: lots\nfoo: 1\njob: { queue: x }\nprot: 1\n',
    )
    expect(problemsOf(file, { UPLOADS_MAX_FILES: '65', UPLOADS_SWEEP_EVERY: 'soon' })).toEqual([
      'inbox.yaml:1 port: give a whole number of 0 to 65535',
      'UPLOADS_MAX_FILES: give a whole number of 1 to 64',
      "inbox.yaml:3 quotaBytes: give bytes, or a text such as '100MiB'",
      "inbox.yaml:2 ackRetention: give a length of time such as '90s', '1h30m' or '24h'; 0 is at once, and it is never negative",
      "UPLOADS_SWEEP_EVERY: give a length of time such as '90s', '1h30m' or '24h'; 0 is at once, and it is never negative, of at least 1 s",
      'inbox.yaml job.kind: give a text',
      `inbox.yaml:4 foo: there is no such name. Known are ${NAMES.join(', ')}`,
      `inbox.yaml:6 prot: there is no such name. Did you mean port? Known are ${NAMES.join(', ')}`,
    ])
  })

  test('that is no YAML, no list of names, or not there, says so', () => {
    expect(problemsOf(fileOf('a: [1'))[0]).toMatch(/^inbox.yaml:1: /)
    expect(problemsOf(fileOf('- 1'))[0]).toContain('is not a list of names and values')
    expect(problemsOf('nowhere.yaml')).toEqual([
      'nowhere.yaml: there is no such file. Name another with --config',
    ])
  })
})
