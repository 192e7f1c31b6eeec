// Tests `npm run check -- words`: it finds each kind of problem, names the place, and accepts good text.
import { describe, expect, test } from 'vitest'
import { checkWords } from '../scripts/check-words.mjs'
import { AVOIDED, OLD_LABELS, OLD_PHRASES } from '../scripts/words.mjs'

const LONG = `${'word '.repeat(31).trim()}.`

describe('a file of code', () => {
  test.each([
    ['a comment', '// Whoever holds the lease.', '"Whoever" (write: name the agent)'],
    ['a message', `throw new Error('it goes on')`, '"goes on" (write: continues)'],
    ['a template', 'say(`${count} jobs, meanwhile`)', '"meanwhile"'],
    ['a space before a percent sign', '// It costs 4 % of a core.', '"4 %" (write: 60%, without a space)'],
    ['a space before the percent sign of a template', 'say(`${share} % of it`)', '"} %"'],
    ['an identifier that was renamed', 'const doorbell = 1', 'doorbell is now notifier'],
    [
      'a phrase that was replaced',
      "const title = 'Why did it die?'",
      '"Why did it die" (write: Why it failed)',
    ],
    ['a phrase between tags', '<p>None of these matched.</p>', '"None of these matched"'],
    ['a label that was replaced', '<th>Held</th>', '"Held" (write: In use)'],
    ['a wide comment', `// ${'wide '.repeat(25)}`, 'a comment is wider than 110 columns'],
  ])('%s', (_, text, problem) => {
    const problems = checkWords('src/a.ts', `const first = 1\n${text}\n`)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^src\/a\.ts:2: /)
    expect(problems[0]).toContain(problem)
  })

  test.each([
    ['code that has the letters of a word', 'const tells = together(beside)'],
    ['a long line of code', `call('${'x'.repeat(150)}')`],
    ['an address in a comment', `// See https://example.com/${'x'.repeat(120)}`],
    ['a percentage', 'say(`${share}% of 100%`)'],
    ['a remainder, and a placeholder', "test.each([60 % 7])('P1 %s', run)"],
    ['a word of a label in prose', '// Held until the attempt ends.'],
    ['plain words', '// The reaper returns the jobs of expired instances to the queue.'],
  ])('%s is no problem', (_, text) => {
    expect(checkWords('src/a.ts', `${text}\n`)).toEqual([])
  })
})

describe('a page', () => {
  test.each([
    ['a word', '# Title\n\nNobody runs it.\n', 'docs/a.md:3: "Nobody"'],
    ['a word in a table', '| a | b |\n|---|---|\n| x | it is told |\n', 'docs/a.md:3: "is told"'],
    [
      'an old command',
      '# Title\n\n```\njobmill move\n```\n',
      'docs/a.md:4: jobmill move is now jobmill transfer',
    ],
    ['a space before a percent sign', '| bound |\n|---|\n| 4 % |\n', 'docs/a.md:3: "4 %"'],
    ['a long sentence', `# Title\n\n${LONG}\n`, 'docs/a.md:3: a sentence of 31 words'],
    [
      'a long sentence over several lines',
      `# Title\n\n- ${LONG.replaceAll('word word', 'word\n  word')}\n`,
      '31 words',
    ],
  ])('%s', (_, text, problem) => {
    const problems = checkWords('docs/a.md', text)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test.each([
    ['code', '```ts\nconst nobody = tells(meanwhile)\n```\n'],
    ['a name in code', 'The field `nobody` is empty.\n'],
    ['a long row of a table', `| ${LONG} |\n`],
    ['sentences that are short', `${'One two three. '.repeat(20)}\n`],
  ])('%s is no problem', (_, text) => {
    expect(checkWords('docs/a.md', text)).toEqual([])
  })
})

test('a phrase that was replaced is found over several lines', () => {
  const problems = checkWords(
    'src/a.tsx',
    'const title = (\n  <p>\n    All of it has\n    to be true\n  </p>\n)\n',
  )
  expect(problems).toEqual(['src/a.tsx:3: "All of it has to be true" (write: Jobs must match every filter)'])
})

test('every word has a suggestion, and none contains a word to avoid', () => {
  const all = [...AVOIDED, ...OLD_PHRASES, ...Object.entries(OLD_LABELS)] as const
  for (const [pattern, suggestion] of all)
    expect(AVOIDED.filter(([other]) => other.test(suggestion)).map(([other]) => [pattern, other])).toEqual([])
})
