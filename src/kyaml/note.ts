/** Neither a failure nor drift. Notes of one cause become one line without comparing texts. */
import type { FailureCode } from './failure.ts'

/** With the subject of the notes. `-o json` prints the name. */
export const NOTE_CAUSES = {
  'adoption-not-checked': 'an object with adopted values that no server checked',
  'annotation-not-valid': 'a backporch annotation in the package that hides nothing',
  'annotation-overruled': 'a backporch annotation that an enforced policy leaves without effect',
  'audit-log-not-read': 'a part of the audit log',
  'branch-left-alone': 'a branch that is left as it is',
  'cache-not-used': 'a cache folder that cannot be written',
  'claimed-by-inventory': 'objects of an inventory that may or may not belong to the package',
  'cluster-not-observed': 'a cluster that cannot be read, so its state is unknown',
  'condition-copied': 'a condition of a Kptfile that came with a copy of another package',
  'commit-compared': 'a work tree whose changes are not committed',
  'config-applied': 'a config of a function that is also an object of the cluster',
  decision: 'a decision that somebody made',
  'events-not-written': 'Events about drift that are not in a cluster',
  'field-not-on-server': 'a field that the server does not know',
  'file-not-read': 'a file that is not read',
  'follows-another-branch': 'a package that its syncer takes from another branch',
  'forge-notice': 'the forge, or a forge without a token',
  'folder-not-listed': 'a folder without a Kptfile, which Porch does not list',
  'function-identity': 'a function that changes names of objects',
  'function-release': 'a function that runs in another release than the one that was asked for',
  'function-result': 'a result that a function of a pipeline gave',
  'head-not-base': 'a HEAD that names a branch of Porch or of Backporch',
  'helm-release-not-read': 'a Helm release whose stored manifest is unknown',
  'installation-key': 'a key that was made now',
  'inventory-twice': 'a package that names two inventories',
  'ledger-not-here': 'a clone without the ledger',
  'ledger-not-read': 'a file of the ledger',
  'looked-at-long-ago': 'packages that were not observed for longer than the policy allows',
  'manifest-not-proven': 'the manifest of an adopted object that no dry run proved',
  'name-from-server': 'an object that the server names',
  'not-in-yaml-diff': 'a difference that has no place in a unified diff',
  'newer-is-known': 'an observation that is older than the one in the ledger',
  'not-observed': 'an object that could not be compared',
  'observed-in-future': 'a time in the ledger that is in the future',
  'package-is-repository':
    'a package that is the whole repository, or all that is registered with Porch',
  'package-not-observed': 'a package that could not be observed',
  'planned-as-restore':
    'a change that is planned as Restore, because the other resolution is refused',
  'policy-not-used': 'a policy that cannot be used, so that an earlier one decides',
  'porch-cannot-list': 'a branch that hides the repository from Porch',
  'porch-name-not-label': 'a package revision that Porch cannot read by name',
  'porch-name-twice': 'two package revisions with one name in Porch',
  'porch-skips-branch': 'a branch that Porch does not list, because the package is not there',
  'porch-tag-not-number': 'a tag that Porch lists as revision -1',
  'porch-tag-not-read': 'a tag whose commit is not known',
  'preview-not-written': 'a preview that is not on its pull request',
  'record-not-read': 'a record of a drift',
  'report-not-written': 'a report that could not be written',
  'rule-hides-nothing': 'an ignore rule that hides nothing, or has ended',
  'shared-source': 'an adopted value that other units have from the same place',
  'secret-in-git': 'a Secret with its values in git in plain text',
  'status-not-written': 'pull requests of people without the status drift/fresh',
  silenced: 'drift that was rejected before',
  'validator-not-run': 'a validator of a pipeline that did not run',
  'waits-for-apply': 'changes that are decided and still live',
  withdrawn: 'a branch whose drift is gone',
  'yaml-duplicate-key': 'a duplicate key',
  'yaml-key': 'a key that kubectl reads as another text',
  'yaml-precision': 'a number that kubectl rounds',
  'source-not-compared':
    'a resource of a syncer that is not compared, or differs from the base branch',
  'traces-not-sent': 'spans that a collector of OpenTelemetry did not take',
  'value-not-decrypted': 'a file with encrypted values that are not decrypted',
  'verdicts-not-read': 'verdicts of an earlier process that are not used',
  'yaml-value': 'a value that kubectl reads differently than it looks',
} as const

export type NoteCause = keyof typeof NOTE_CAUSES

export interface Note {
  readonly cause: NoteCause
  readonly subject: string
  /** Can follow the subject and a colon. */
  readonly text: string
}

export interface Finding {
  readonly check: string
  /** `skipped`: not proven either way; not a fault. */
  readonly state: 'passed' | 'warning' | 'failed' | 'skipped'
  readonly code?: FailureCode | undefined
  readonly message: string
  /** Always set with `warning` and `failed`. */
  readonly fix?: string | undefined
}

interface NoteGroup {
  readonly cause: NoteCause
  readonly count: number
  readonly examples: readonly Pick<Note, 'subject' | 'text'>[]
  readonly sameText: boolean
}

/** A decision is a result of the turn. */
const EACH_IS_TOLD: ReadonlySet<NoteCause> = new Set(['decision'])

export function groupNotes(notes: Iterable<Note>, examples = 3): readonly NoteGroup[] {
  const groups = new Map<string, Map<string, Note>>()
  for (const note of notes) {
    const same = EACH_IS_TOLD.has(note.cause)
      ? `${note.cause} ${formatNoteSentence(note)}`
      : note.cause
    const group = groups.get(same) ?? new Map<string, Note>()
    groups.set(same, group.set(`${note.subject}\0${note.text}`, note))
  }
  return [...groups.values()].map((group) => {
    const all = [...group.values()] as [Note, ...Note[]]
    const [{ cause, text }] = all
    return {
      cause,
      count: all.length,
      examples: all.slice(0, examples).map(({ subject, text: own }) => ({ subject, text: own })),
      sameText: all.every((note) => note.text === text),
    }
  })
}

export function formatNoteSentence({ subject, text }: Pick<Note, 'subject' | 'text'>): string {
  return subject === '' ? text : `${subject}: ${text}`
}

export function groupSentence({ count, examples, sameText }: NoteGroup): string {
  const [first] = examples
  if (first === undefined) return ''
  if (count === 1) return formatNoteSentence(first)
  const more = `and ${count - 1} more`
  return sameText && first.subject !== ''
    ? `${first.text}: ${first.subject} ${more}`
    : `${formatNoteSentence(first)}; ${more} of this kind`
}
