/**
 * What Backporch promises: P1 to P30. Each has checks, files of tests that fail when it is broken, and mutants: one deliberate
 * fault in the source for each, which the checks have to find. `scoreboard.ts` breaks, runs and writes docs/reliability.md.
 */

export interface Mutant {
  /** What the fault does, in the present tense: `the hash has no key`. */
  readonly breaks: string
  /** Below the root of the repository. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Part of the path of the tests that have to find it, where the checks of the promise would take long; all checks otherwise. */
  readonly by?: string
}

export interface Promised {
  /** `P1` */
  readonly id: string
  /** One sentence. */
  readonly promise: string
  /** Paths of test files. */
  readonly checks: readonly string[]
  readonly mutants: readonly Mutant[]
  /** What of the promise no check proves yet, and what that waits for; the promise is unproven where there is no mutant either. */
  readonly open?: string
}

/** @throws Error where the text to replace is not there exactly once: the source moved on, and the mutant has to follow */
export function mutate(source: string, { file, find, replace }: Mutant): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`)
  return parts.join(replace)
}

export const PROMISES: readonly Promised[] = [
  {
    id: 'P1',
    promise: 'No value of a Secret, and no value that looks like a credential, leaves the process.',
    checks: [
      'test/hostile/credential-forms.test.ts',
      'src/cli/no-secrets.test.ts',
      'src/krm/redacted.test.ts',
      'test/e2e/canary.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'the content of a Secret is shown',
        file: 'src/krm/redacted.ts',
        find: 'if (isSecret(id) && isHiddenOfSecret(path, value)) return',
        replace: 'if (isSecret(id) && path.length > 9) return',
        by: 'src/krm/redacted.test.ts',
      },
      {
        breaks: 'a credential is not known by its name or form',
        file: 'src/krm/redacted.ts',
        find: "return looksSecret(path, value) ? 'by its name or its form it is a credential' : undefined",
        replace: 'return undefined',
        by: 'test/hostile/credential-forms.test.ts',
      },
    ],
  },
  {
    id: 'P2',
    promise: 'A changed secret shows as changed by a keyed hash, which nobody can guess back without the key.',
    checks: ['src/krm/redacted.test.ts'],
    mutants: [
      {
        breaks: 'the hash has no key',
        file: 'src/krm/redacted.ts',
        find: "createHmac('sha256', prepare(key))",
        replace: "createHash('sha256')",
      },
    ],
  },
  {
    id: 'P3',
    promise: 'Credentials are never printed: not those in an address, in an error of a server, or in a program’s output.',
    checks: ['src/adapters/git/remote-address.test.ts', 'src/text/foreign-text.test.ts', 'src/adapters/kubernetes/credentials.test.ts'],
    mutants: [
      {
        breaks: 'the address is printed with its user and password',
        file: 'src/adapters/git/remote-address.ts',
        find: "return { kind: 'http', printed: place + path,",
        replace: "return { kind: 'http', printed: url.href,",
      },
      {
        breaks: 'a secret in the text of a server is passed on',
        file: 'src/text/foreign-text.ts',
        find: "rest.replaceAll(secret, '***')",
        replace: 'rest',
      },
    ],
  },
  {
    id: 'P4',
    promise: 'A unit has one open pull request at most, whatever fails in between.',
    checks: ['test/crash/kill-pull-requests.test.ts', 'test/gitea/gitea-faults.test.ts'],
    mutants: [],
    open: 'A mutant that opens a pull request without looking for an open one survived the faults of Gitea: a check that finds it is missing.',
  },
  {
    id: 'P5',
    promise: 'A crash at any step loses nothing and does nothing twice.',
    checks: [
      'test/crash/kill-everywhere.test.ts',
      'test/crash/kill-pull-requests.test.ts',
      'test/crash/kill-commands.test.ts',
      'test/crash/kill-joint.test.ts',
      'test/crash/kill-limits.test.ts',
      'test/crash/kill-init.test.ts',
      'test/crash/settle.live.test.ts',
      'test/gitea/crash.gitea.test.ts',
      'test/hostile/approve-killed.test.ts',
    ],
    mutants: [
      {
        breaks: 'an approve that is given again does not find its own merge',
        file: 'src/reconcile/decide.ts',
        find: "const own = verb === 'approve' ? ownMerge(observation, decider.name) : undefined",
        replace: "const own = verb === 'approve' ? undefined : ownMerge(observation, decider.name)",
        by: 'test/hostile/approve-killed.test.ts',
      },
      {
        breaks: 'a tag that an earlier turn set is not found again',
        file: 'src/plan/found-decisions.ts',
        find: 'if (tag?.packagePath === unit.packageName) return tag.revision',
        replace: 'if (tag?.packagePath === unit.packageName) return undefined',
        by: 'test/crash/kill-',
      },
    ],
  },
  {
    id: 'P6',
    promise: 'Nothing is written to a cluster unless a merged commit authorises it, and then exactly the approved items.',
    checks: ['src/plan/plan-settle.test.ts', 'src/adapters/kubernetes/api-server-writer.test.ts', 'test/e2e/settle.live.test.ts'],
    mutants: [
      {
        breaks: 'a write that names no commit is sent',
        file: 'src/adapters/kubernetes/api-server-writer.ts',
        find: 'if (!COMMIT.test(commit) || !EPISODE.test(episode)) {',
        replace: 'if (!EPISODE.test(episode)) {',
        by: 'src/adapters/kubernetes/api-server-writer',
      },
      {
        breaks: 'what differs and was not approved is written too',
        file: 'src/plan/plan-settle.ts',
        find: 'const still = now.filter(({ fingerprint }) => approved.has(fingerprint))',
        replace: 'const still = now',
        by: 'src/plan/plan-settle.test.ts',
      },
    ],
  },
  {
    id: 'P7',
    promise: 'A ref is moved only from where it was last seen; the base branch is never forced.',
    checks: [
      'src/adapters/git/repository-local.test.ts',
      'src/adapters/git/repository-http.test.ts',
      'src/adapters/git/repository-remote.test.ts',
    ],
    mutants: [
      {
        breaks: 'where the ref is now is not compared with where it was seen',
        file: 'src/adapters/git/push-refs.ts',
        find: 'if (moved.length > 0) throw leaseLost(parts.remote, moved, [])',
        replace: '',
        by: 'src/adapters/git/repository',
      },
    ],
  },
  {
    id: 'P8',
    promise: 'An error is never drift: what cannot be read is unknown, opens no pull request and closes none.',
    checks: [
      'src/adapters/kubernetes/read-live-absence.test.ts',
      'src/adapters/kubernetes/read-live.test.ts',
      'src/plan/plan-reconcile.test.ts',
    ],
    mutants: [
      {
        breaks: 'an object that cannot be read counts as missing',
        file: 'src/drift/detect-drift.ts',
        find: "if (live.state === 'unreadable') return { ...base, state: 'unreadable', proof: 'none', items: [], failure: live.failure }",
        replace: "if (live.state === 'unreadable') return detectDrift({ ...observed, live: { state: 'absent' } }, syncer)",
        by: 'src/plan/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P9',
    promise: 'An object is missing only after a list that is complete and of one resource version.',
    checks: ['src/adapters/kubernetes/read-live-absence.test.ts', 'src/adapters/kubernetes/read-live.test.ts'],
    mutants: [
      {
        breaks: 'pages of different resource versions are one list',
        file: 'src/adapters/kubernetes/list-objects.ts',
        find: 'if (resourceVersion !== undefined && page.resourceVersion !== resourceVersion) {',
        replace: 'if (false) {',
        by: 'src/adapters/kubernetes/read-live',
      },
    ],
  },
  {
    id: 'P10',
    promise: 'One broken kind, package or cluster stops no other one.',
    checks: [
      'src/cli/controller.test.ts',
      'src/reconcile/unobserved.test.ts',
      'test/e2e/bad-world.live.test.ts',
      'test/e2e/bad-objects.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'a cluster that cannot be observed ends the turn of all',
        file: 'src/reconcile/run-turn.ts',
        find: 'if (signal.aborted) throw thrown\n    return { cluster: cluster.name,',
        replace: 'if (thrown !== undefined) throw thrown\n    return { cluster: cluster.name,',
        by: 'src/reconcile/unobserved.test.ts',
      },
    ],
  },
  {
    id: 'P11',
    promise: 'No input, of whatever form, ends the process or the turns of others.',
    checks: [
      'src/drift/hostile-objects.test.ts',
      'src/render/bad-input.test.ts',
      'test/e2e/bad-input.live.test.ts',
      'test/e2e/bad-objects.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'an object that is nested too deep is walked',
        file: 'src/krm/json-depth.ts',
        find: 'if (depth > most) return true',
        replace: '',
        by: 'src/krm/json-depth.test.ts',
      },
    ],
  },
  {
    id: 'P12',
    promise: 'All that lasts is in git, the forge, Leases and one key: the data folder may be deleted at any moment.',
    checks: ['src/adapters/git/repository-cache.test.ts', 'test/property/known-turns.property.test.ts'],
    mutants: [
      {
        breaks: 'a cache that is not what it should be is used as it is',
        file: 'src/adapters/git/object-cache.ts',
        find: 'if (object.id !== id) throw new DamagedCache(`object ${id} has another content`)',
        replace: '',
        by: 'src/adapters/git/repository-cache.test.ts',
      },
    ],
  },
  {
    id: 'P13',
    promise: 'When faults stop, the state is that of an undisturbed run, and then nothing is written any more.',
    checks: ['test/crash/kill-pull-requests.test.ts', 'src/plan/plan-reconcile.test.ts'],
    mutants: [
      {
        breaks: 'the time of the observation is something new',
        file: 'src/plan/ledger-files.ts',
        find: "observed: { ...observed, at: '' }",
        replace: 'observed',
        by: 'src/plan/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P14',
    promise: 'The same input gives the same bytes, in whatever order the cluster and git list things.',
    checks: ['src/plan/plan-reconcile.test.ts', 'src/drift/fingerprint.test.ts', 'test/crash/kill-everywhere.test.ts'],
    mutants: [
      {
        breaks: 'a fingerprint depends on the order of the items',
        file: 'src/drift/fingerprint.ts',
        find: 'hashed(item, key).line).sort()',
        replace: 'hashed(item, key).line)',
        by: 'src/drift/fingerprint.test.ts',
      },
    ],
  },
  {
    id: 'P15',
    promise: 'After an Adopt the package renders to the live values, and nothing else moves.',
    checks: ['src/proposal/prove-edit.test.ts', 'test/property/adopt.property.test.ts', 'src/proposal/adopt/adoption.test.ts'],
    mutants: [
      {
        breaks: 'what moves beside the chosen fields is accepted',
        file: 'src/proposal/prove-edit.ts',
        find: "if (moved !== undefined) throw movedMore(describeResourceId(was.id), `${shownPathOnly(moved) || 'the object'} moves too`)",
        replace: '',
        by: 'src/proposal/prove-edit.test.ts',
      },
      {
        breaks: 'a chosen field that does not hold the live value is accepted',
        file: 'src/proposal/prove-edit.ts',
        find: 'if (!jsonEquals(value, wanted))',
        replace: 'if (false)',
        by: 'src/proposal/prove-edit.test.ts',
      },
    ],
  },
  {
    id: 'P16',
    promise: 'A Restore never brings back a value that git has changed since: a proposal whose base moved is built anew.',
    checks: ['src/plan/plan-reconcile.test.ts', 'test/crash/kill-pull-requests.test.ts'],
    mutants: [
      {
        breaks: 'a proposal on an older base counts as the same',
        file: 'src/plan/unit-documents.ts',
        find: '&&\n    sameTree(git.tree, git.baseTrees.get(open.base))',
        replace: '',
        by: 'src/plan/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P17',
    promise: 'A closed pull request silences exactly the drift that it was about, for a time that it says.',
    checks: [
      'src/plan/plan-reconcile.test.ts',
      'src/plan/found-decisions.test.ts',
      'test/hostile/decisions-in-a-race.test.ts',
      'test/gitea/gitea-contract.test.ts',
    ],
    mutants: [
      {
        breaks: 'other drift of the unit is silent too',
        file: 'src/plan/pick-changes.ts',
        find: "spec.fingerprint === fingerprint && status.outcome === 'Declined'",
        replace: "status.outcome === 'Declined'",
        by: 'src/plan/plan-reconcile.test.ts',
      },
      {
        breaks: 'silence has no end',
        file: 'src/plan/pick-changes.ts',
        find: 'return until !== undefined && until > at ? until : undefined',
        replace: 'return until',
        by: 'src/plan/plan-reconcile.test.ts',
      },
    ],
  },
  {
    id: 'P18',
    promise: 'Mass drift is one incident: past the threshold nothing new is proposed, and one issue says so.',
    checks: ['src/plan/storm.test.ts', 'src/plan/plan-limits.test.ts', 'test/fleet/mass-drift.test.ts', 'src/reconcile/limits.test.ts'],
    mutants: [
      {
        breaks: 'a storm is never seen',
        file: 'src/plan/storm.ts',
        find: 'return causes.size > threshold',
        replace: 'return false',
        by: 'src/plan/storm.test.ts',
      },
      {
        breaks: 'a storm holds nothing back',
        file: 'src/plan/plan-limits.ts',
        find: 'if (stormy !== undefined) return stormy',
        replace: '',
        by: 'src/plan/plan-limits.test.ts',
      },
    ],
  },
  {
    id: 'P19',
    promise: 'A field that two sides fight over is named, with the other manager, and no more pull requests are opened for it.',
    checks: ['src/plan/fight.test.ts', 'test/crash/kill-pull-requests.test.ts'],
    mutants: [
      {
        breaks: 'a fight has no end of rounds',
        file: 'src/plan/fight.ts',
        find: 'if (restored.length >= MERGES || flipped.length >= FLIPS)',
        replace: 'if (flipped.length >= FLIPS)',
        by: 'src/plan/fight.test.ts',
      },
    ],
  },
  {
    id: 'P20',
    promise: 'Two controllers at once do nothing twice and lose nothing.',
    checks: ['test/hostile/run-two-controllers.ts', 'src/adapters/git/repository-local.test.ts', 'test/gitea/gitea-faults.test.ts'],
    mutants: [],
    open: 'No mutant was run; the check passes with random merges, closes and edits.',
  },
  {
    id: 'P21',
    promise: 'A package reports on, and proposes for, only the namespaces and kinds that are bound to it.',
    checks: ['test/hostile/tenancy.test.ts', 'test/e2e/tenants.live.test.ts'],
    mutants: [
      {
        breaks: 'a placement allows every namespace',
        file: 'src/policy/boundary.ts',
        find: 'if (allowsNamespace(own, id.namespace)) return undefined',
        replace: 'if (allowsNamespace(own, id.namespace) || own.length > 0) return undefined',
        by: 'test/hostile/tenancy.test.ts',
      },
      {
        breaks: 'without a placement every object is covered',
        file: 'src/policy/coverage.ts',
        find: 'if (this.proves(id) || (!this.anchored && this.mostlyAgrees(id))) return undefined',
        replace: 'return undefined',
        by: 'test/hostile/tenancy.test.ts',
      },
    ],
    open: 'Without allow, coverage is inferred from what is live (ADR 41): evidence, and no wall.',
  },
  {
    id: 'P22',
    promise: 'Only people who may write decide, and only a code owner lets go of what is dangerous.',
    checks: ['src/plan/comment-rights.test.ts', 'test/hostile/forged-bot-commit.test.ts', 'test/gitea/commands.gitea.test.ts'],
    mutants: [
      {
        breaks: 'a command of anybody counts',
        file: 'src/plan/comment-rights.ts',
        find: "if (permission === 'write' || permission === 'admin') return",
        replace: 'return',
        by: 'src/plan/comment-rights.test.ts',
      },
      {
        breaks: 'a commit in the name of the bot is believed',
        file: 'src/reconcile/judge-branches.ts',
        find: "if (typeof verdict === 'string') found.set(branch.ref, verdict)",
        replace: "if (typeof verdict === 'string') continue",
        by: 'test/hostile/forged-bot-commit.test.ts',
      },
      {
        breaks: 'a critical change needs no code owner',
        file: 'src/plan/comment-rights.ts',
        find: "if (change.risk !== 'critical' && change.risk !== 'high') continue",
        replace: "if (change.risk !== 'high') continue",
        by: 'src/plan/comment-rights.test.ts',
      },
    ],
  },
  {
    id: 'P23',
    promise: 'Foreign text stays text: no mention, link, markup, escape sequence or trailer of it acts anywhere.',
    checks: [
      'src/record/markdown-text.test.ts',
      'test/contract/proposal-markdown.test.ts',
      'src/text/foreign-text.test.ts',
      'src/record/commit-message.test.ts',
    ],
    mutants: [
      {
        breaks: 'the fence around code is as long as a run within it',
        file: 'src/record/markdown-text.ts',
        find: "const fence = '`'.repeat(longestRun(shown) + 1)",
        replace: "const fence = '`'",
        by: 'src/record/markdown-text.test.ts',
      },
      {
        breaks: 'control and format characters are passed on',
        file: 'src/text/foreign-text.ts',
        find: '/[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u2065\\u{e0000}-\\u{e007f}]/gu',
        replace: '/[\\p{Cc}]/gu',
        by: 'src/text/foreign-text.test.ts',
      },
    ],
  },
  {
    id: 'P24',
    promise: 'A package runs nothing that the operator did not allow, and nothing past its limits of time, memory and output.',
    checks: [
      'src/render/runtimes/choose-runtime.test.ts',
      'src/adapters/functions/foreign-functions.test.ts',
      'src/adapters/functions/worker-renderer.test.ts',
      'src/adapters/functions/container-engine.test.ts',
    ],
    mutants: [
      {
        breaks: 'a program that is named is run',
        file: 'src/render/runtimes/choose-runtime.ts',
        find: 'if (allowed.exec.includes(text)) {',
        replace: "if (text !== '') {",
        by: 'src/render/runtimes/choose-runtime.test.ts',
      },
      {
        breaks: 'a program may print without end',
        file: 'src/adapters/functions/run-program.ts',
        find: 'if (written > limits.output) breakLimit(',
        replace: 'if (false) breakLimit(',
        by: 'src/adapters/functions/foreign-functions.test.ts',
      },
    ],
  },
  {
    id: 'P25',
    promise: 'Every resource is bounded: bodies, pages, files, depth, queues, caches, texts of pull requests.',
    checks: [
      'src/adapters/forge/webhook-server.test.ts',
      'src/adapters/kubernetes/api-connection.test.ts',
      'src/krm/json-depth.test.ts',
      'src/proposal/proposal-text.test.ts',
      'test/hostile/large-files.test.ts',
    ],
    mutants: [
      {
        breaks: 'a webhook of any length is read',
        file: 'src/adapters/forge/webhook-intake.ts',
        find: 'if (this.bytes >= BODY_LIMIT) {',
        replace: 'if (false) {',
        by: 'src/adapters/forge/webhook-',
      },
    ],
  },
  {
    id: 'P26',
    promise: 'Every answer says how old it is, and what cannot be observed is Unknown, never in sync.',
    checks: ['src/reconcile/unobserved.test.ts', 'test/hostile/rollback.test.ts', 'test/e2e/status.live.test.ts'],
    mutants: [
      {
        breaks: 'an older observation replaces a newer one',
        file: 'src/plan/seen-at.ts',
        find: 'return at < known && known <= now',
        replace: 'return false',
        by: 'src/reconcile/unobserved.test.ts',
      },
    ],
    open: 'A watch that is silent for 60 seconds as Stale waits for the watch (issue 18).',
  },
  {
    id: 'P27',
    promise: 'A webhook is a hint: without, twice, or forged, it changes when something happens and not what.',
    checks: [
      'src/adapters/forge/webhook-intake.test.ts',
      'src/adapters/forge/webhook-signature.test.ts',
      'test/gitea/webhook.gitea.test.ts',
    ],
    mutants: [
      {
        breaks: 'any signature is good',
        file: 'src/adapters/forge/webhook-signature.ts',
        find: 'return equal.includes(true)',
        replace: 'return equal.length > 0',
        by: 'src/adapters/forge/webhook-signature.test.ts',
      },
    ],
  },
  {
    id: 'P28',
    promise: 'Every failure names what, where, why and what to do, with a stable code and exit code.',
    checks: ['src/failure.test.ts', 'src/cli/failure-guide.test.ts', 'src/cli/exit-status.test.ts'],
    mutants: [
      {
        breaks: 'a failure does not say what to do',
        file: 'src/failure.ts',
        find: ', `  fix: ${indented(failure.remedy)}`)',
        replace: ')',
        by: 'src/failure.test.ts',
      },
    ],
  },
  {
    id: 'P29',
    promise: 'State of one minor release before or after is read, and unknown fields survive.',
    checks: [],
    mutants: [],
    open: 'It waits for the first release: there is none to replay.',
  },
  {
    id: 'P30',
    promise: 'A release has an SBOM, provenance, signed commits of the bot and a tarball that can be built again byte for byte.',
    checks: [],
    mutants: [],
    open: 'It waits for the first release.',
  },
]
