// The two word lists of `npm run check -- words`: prose to avoid, with what to write instead, and old
// identifiers that must not come back. Add a row when a review finds a sentence odd.

/**
 * Words and phrases that prose avoids: docs, comments, messages, labels. The third entry names files in which the
 * word means something else.
 * @type {readonly (readonly [pattern: RegExp, suggestion: string, exempt?: RegExp])[]}
 */
export const AVOIDED = [
  [/(?<!-)\bpulses?\b/i, 'heartbeat'],
  [/\bdoorbells?\b/i, 'notifier'],
  [/\bhand-offs?\b/i, 'direct dispatch'],
  [/\bhand-overs?\b/i, 'remote dispatch'],
  [/\bstand-by offers?\b/i, 'idle worker offer'],
  [/\bsuspects?\b/i, 'quarantined job'],
  [
    /(?<![</])\bfigures?\b/i,
    'metric or number',
    /^(?:test\/)?bench\/|^(?:test\/)?proof\/soak|benchmarks\.md$/,
  ],
  [/\bstrangers?\b/i, 'anonymous caller'],
  [/\bunserved\b/i, 'without a worker'],
  [/\bgave up\b/i, 'failed permanently'],
  [/\b(?:keeps?|kept|keeping|broke|breaks?) (?:\w+ )?promises?\b/i, 'guarantee'],
  [/\bmeanwhile\b/i, 'name what happens at the same time'],
  [/\bfor ever\b/i, 'forever, or without end'],
  [/\bin trouble\b/i, 'is failing'],
  [/\bper (?:second|minute|hour) and (?:caller|IP|mailbox|process|key|queue)\b/i, 'per second per caller'],
  [/\bin vain\b/i, 'without effect, or say what failed'],
  [/\banew\b/i, 'again'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix or repair'],
  [/\bcom(?:es?|ing) into being\b/i, 'is created'],
  [/\bbegins? again\b/i, 'starts over, or is retried'],
  [/\bgo(?:es)? on\b/i, 'continues'],
  [/\bin its way\b/i, 'blocked by'],
  [/\b(?:is|are|all is) well\b/i, 'works, or is healthy'],
  [/\bha(?:s|ve) to do with\b/i, 'is related to'],
  [/\bof a user's\b/i, 'of the user'],
  [/\bby itself\b/i, 'on its own'],
  [/\bbeside\b/i, 'next to, or in addition to'],
  [/\b(?:is|are|was|were|be) told\b/i, 'name who reports it: "the store reports"'],
  [/\btells\b/i, 'reports, shows or says'],
  [/\b(?:is|are|was|were) looked at\b/i, 'is checked, or is read'],
  [/\bwhoever\b/i, 'name the agent'],
  [/\bsomebody\b/i, 'name the agent'],
  [/\bnobody\b/i, 'name the agent: "no worker", "no process"'],
  [
    /\b(?:it|this|that|which|they|there|what|he|he who|row|rows|word|line|text|name|names) stands?\b/i,
    'is, or appears',
  ],
  [/\bstands? (?:in|at|on|there|here|for itself|still)\b/i, 'is in, or stops'],
  [/\blies (?:in|at|on|there|between|behind)\b/i, 'is in'],
  [/\b(?:the|an) audit(?=[.,;:]| (?!log|entr|record|note)\w)/i, 'audit log'],
  [/\bcooldowns?\b/i, 'cool-down'],
  [/\bliving (?:instance|process|worker)/i, 'live'],
  [/\bdatabase address\b/i, 'database URL'],
  [/\bctrl-[a-z]\b/i, 'Ctrl+C'],
  // A placeholder, such as `D3 %s`, is not a percentage. The brace ends a value in a template.
  [/(?:\d|\}) %(?![a-z])/, '60%, without a space'],
  // An event of the dispatcher has this name.
  [/\benqueueing\b/i, 'enqueuing', /\/dispatch\//],
]

/**
 * Identifiers, tables, commands and paths that were renamed. Matched as whole words in code.
 * @type {Readonly<Record<string, string>>}
 */
export const RENAMED = {
  Pulse: 'Heartbeat',
  PulseRequest: 'HeartbeatRequest',
  pulse: 'heartbeat',
  Doorbell: 'Notifier',
  doorbell: 'notifier',
  Rung: 'WakeUp',
  rung: 'wakeUp',
  ringFor: 'notifyFor',
  takeUnrung: 'takeUnnotified',
  Finding: 'Diagnostic',
  examineMill: 'diagnoseMill',
  Keeping: 'DatabaseAdmin',
  tend: 'dutyControl',
  carryIn: 'importItems',
  carryOut: 'exportItems',
  Carrying: 'Transfer',
  giveBackPermit: 'release',
  whoIs: 'authenticate',
  WhoIs: 'Authenticate',
  Beside: 'Passthrough',
  strangersPerSecond: 'anonymousPerSecond',
  tellOutcome: 'emitOutcome',
  handedBack: 'returned',
  handOff: 'directDispatch',
  HandOff: 'DirectDispatchOffer',
  handOver: 'remoteDispatch',
  HandedOver: 'DispatchedJob',
  StandBy: 'IdleWorkerOffer',
  standBy: 'offerWorker',
  Floors: 'ScanCursors',
  DueFloor: 'DueCursor',
  whenWritten: 'afterCommit',
  unserved: 'unservedKinds',
  waitsForTurn: 'waitsForOrder',
  hasTurn: 'hasOrderLock',
  OwnFigures: 'CustomMetrics',
  figuresByMailbox: 'metricsByMailbox',
  Suspects: 'Quarantine',
  'jobmill.line': 'jobmill.order_queue',
  'jobmill.turn': 'jobmill.order_lock',
  jobmill_turn: 'jobmill_order_lock',
  'jobmill.figure': 'jobmill.metric_delta',
  jobmill_figure: 'jobmill_metric_delta',
  MOVE_REFUSED: 'TRANSFER_REFUSED',
  'jobmill move': 'jobmill transfer',
  'npm run promises': 'npm run guarantees',
  'docs/guides': 'docs/learn or docs/operate',
  'docs/decisions': 'docs/internals/decisions',
  'docs/promises.md': 'docs/reference/guarantees.md',
}

/** A sentence of the docs has at most so many words. */
export const MOST_WORDS = 30

/** A line of a comment has at most so many columns. */
export const MOST_COLUMNS = 110
