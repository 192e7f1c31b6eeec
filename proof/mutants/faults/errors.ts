/** Faults in how errors are grouped and folded. One test must find each. */
import type { TestedMutant } from '../mutant.ts'

const UNIT = 'packages/jobmill/test/unit'
const ERRORS = 'packages/jobmill/test/runtime/errors.test.ts'
const IDS = { file: `${UNIT}/fingerprint.test.ts`, name: 'are one group' }
const APART = { file: `${UNIT}/fingerprint.test.ts`, name: 'are two groups' }
const FOLDED = { file: ERRORS, name: 'more than 20 groups' }

export const ERROR_GROUPS: readonly TestedMutant[] = [
  {
    name: 'an id with a prefix counts as a word',
    file: 'job/grouping/ids.ts',
    find: 'return part.length >= 8 || changes(part) >= 2',
    replace: 'return part.length >= 80',
    test: { file: `${UNIT}/fingerprint.test.ts`, name: 'no such intent' },
  },
  {
    name: 'the words around a code of the system count',
    file: 'job/grouping/key.ts',
    find: 'if (code !== null) return code',
    replace: "if (code === '') return code",
    test: IDS,
  },
  {
    name: 'a name after a noun counts as a word',
    file: 'job/grouping/words.ts',
    find: 'return followsNoun(this.#text, at, word)',
    replace: 'return false',
    test: IDS,
  },
  {
    name: 'all words of a clause count',
    file: 'job/grouping/words.ts',
    find: 'const FIRST_CLAUSE = 3',
    replace: 'const FIRST_CLAUSE = 30',
    test: IDS,
  },
  {
    name: 'status codes do not count',
    file: 'job/grouping/words.ts',
    find: 'if (this.words.length > 0 && !EXIT_CODE',
    replace: 'if (this.words.length > 99 && !EXIT_CODE',
    test: APART,
  },
  {
    name: 'names of a schema do not count',
    file: 'job/grouping/words.ts',
    find: 'if (/^[\\w$.()[\\]-]+$/.test(name)) this',
    replace: "if (name === '') this",
    test: APART,
  },
  {
    name: 'the frame of a dependency counts as the application',
    file: 'job/grouping/frame.ts',
    find: '[/\\\\]node_modules[/\\\\]|',
    replace: '',
    test: { file: `${UNIT}/error-frame.test.ts`, name: 'is the first one outside' },
  },
  {
    name: 'the folder of a deploy is part of a frame',
    file: 'job/grouping/frame.ts',
    find: 'parts.slice(-1)',
    replace: 'parts',
    test: { file: `${UNIT}/error-frame.test.ts`, name: 'the frame of the application' },
  },
  {
    name: 'few groups are folded',
    file: 'runtime/operate/errors/fold-errors.ts',
    find: 'const MOST_APART = 20',
    replace: 'const MOST_APART = 1',
    test: FOLDED,
  },
  {
    name: 'a bulk action on a folded group ignores fold keys',
    file: 'runtime/operate/errors/fingerprint-filter.ts',
    find: 'return keys.has(fingerprint) || ',
    replace: 'return keys.has(fingerprint) || false && ',
    test: FOLDED,
  },
  {
    name: 'a retry resets when an error was first seen',
    file: 'runtime/operate/errors/errors.ts',
    find: 'return isSame ? first.at : at',
    replace: 'return at',
    test: { file: ERRORS, name: 'survives a retry' },
  },
]
