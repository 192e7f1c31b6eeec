/**
 * README.md matches the code: every command and option, every route, every client option and problem code.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commonOptions } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/run.ts'
import { ROUTES } from '../src/http/routes.ts'

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
const page = read('README.md')

/** The first cells of a table, without backticks. */
const rowsOf = (heading: string, text = page): string[] => {
  const [, part = ''] = text.split(heading)
  const [table = ''] = part.split('\n\n').filter((one) => one.includes('|---|'))
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell)
}

test('every command with its arguments and options', () => {
  expect(rowsOf('## Commands')).toEqual(
    COMMANDS.map(({ words, takes }) => (takes === undefined ? words : `${words} ${takes}`)),
  )
  for (const command of COMMANDS)
    for (const option of Object.keys({ ...command.options, ...commonOptions(command) }))
      expect(page).toContain(`\`--${option}\``)
})

test('every route', () => {
  const known = ROUTES.flatMap(([pattern, methods]) => {
    const path = pattern.source
      .replaceAll(String.raw`\/`, '/')
      .replace('([^/]*)', ':file')
      .replaceAll(/[$^]/g, '')
    return Object.keys(methods).map((method) => `${method} /${path}`)
  })
  expect(rowsOf('## HTTP').toSorted()).toEqual(known.toSorted())
})

test('every problem code, and every client option with a default', () => {
  const codes = [...read('src/client/trouble.ts').matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map(
    ([, code = '']) => code,
  )
  expect(rowsOf('**When something fails**').toSorted()).toEqual(codes.toSorted())
  const [, own = ''] = /interface PullOptions [^{]*\{([\s\S]*?)\n\}/.exec(read('src/client/options.ts')) ?? []
  const options = [...own.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name = '']) => name)
  const documented = ['onFile', 'onTrouble', 'fault', 'clock']
  const [, client = ''] = page.split('## The client')
  expect([...rowsOf('await puller.stop()', client), ...documented].toSorted()).toEqual(options.toSorted())
})
