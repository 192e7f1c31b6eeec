// Scores the rules that group errors: precision and recall on the corpus and on the hold-out. Prints the
// largest mistakes on the corpus, and fails unless all four numbers reach the target. The rules must not be
// fitted to the hold-out, so only its two numbers are printed.
import { isGood, scoreParts, TARGET } from '../test/error-groups/parts.ts'

const MOST_MISTAKES = 10

const parts = scoreParts()
for (const { part, errors, groups, precision, recall, mistakes } of parts) {
  console.log(
    `${part.padEnd(9)} ${errors} errors in ${groups} groups: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
  )
  for (const mistake of mistakes.slice(0, MOST_MISTAKES)) console.log(`  ${mistake}`)
}
const isPassed = parts.every(isGood)
if (!isPassed)
  console.error(
    `precision or recall is below ${TARGET}. Generalize the rules in packages/jobmill/src/job/grouping`,
  )
process.exit(isPassed ? 0 : 1)
