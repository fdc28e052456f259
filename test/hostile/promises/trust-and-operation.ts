/** P21 to P30: whom to believe, what is bounded, what is told, and what is released. */
import type { Promised } from '../promises.ts'

export const TRUST_AND_OPERATION: readonly Promised[] = [
  {
    id: 'P21',
    promise:
      'A package reports on, and proposes for, only the namespaces and kinds that are bound to it.',
    checks: ['test/hostile/tenancy.test.ts', 'test/e2e/tenants.live.test.ts'],
    mutants: [
      {
        breaks: 'a placement allows every namespace',
        file: 'src/policy/boundary.ts',
        find: 'if (isNamespaceAllowed(own, id.namespace)) return undefined',
        replace: 'if (isNamespaceAllowed(own, id.namespace) || own.length > 0) return undefined',
        by: 'test/hostile/tenancy.test.ts',
      },
      {
        breaks: 'without a placement every object is covered',
        file: 'src/policy/coverage.ts',
        find: 'if (this.isProven(id) || (!this.anchored && this.isMostlyAgreeing(id))) return undefined',
        replace: 'return undefined',
        by: 'test/hostile/tenancy.test.ts',
      },
    ],
    open: 'Without allow, coverage is inferred from live objects (ADR 41). It is evidence, not enforcement. A process has one policy of the operator, and a Placement names no repository: tenants that do not trust each other need a process each.',
  },
  {
    id: 'P22',
    promise:
      'Only people with write access decide, and only a code owner adopts, releases or ignores critical and high changes.',
    checks: [
      'src/plan/unit/commands/comment-rights.test.ts',
      'test/hostile/forged-bot-commit.test.ts',
      'test/gitea/commands.gitea.test.ts',
    ],
    mutants: [
      {
        breaks: 'a command of any person counts',
        file: 'src/plan/unit/commands/comment-rights.ts',
        find: "if (permission === 'write' || permission === 'admin') return",
        replace: 'return',
        by: 'src/plan/unit/commands/comment-rights.test.ts',
      },
      {
        breaks: 'a commit in the name of the bot is trusted',
        file: 'src/reconcile/repository/judge-branches.ts',
        find: "if (typeof verdict === 'string') found.set(branch.ref, verdict)",
        replace: "if (typeof verdict === 'string') continue",
        by: 'test/hostile/forged-bot-commit.test.ts',
      },
      {
        breaks: 'a critical change needs no code owner',
        file: 'src/plan/unit/commands/comment-rights.ts',
        find: "if (change.risk !== 'critical' && change.risk !== 'high') continue",
        replace: "if (change.risk !== 'high') continue",
        by: 'src/plan/unit/commands/comment-rights.test.ts',
      },
    ],
  },
  {
    id: 'P23',
    promise:
      'Foreign text is always text: no mention, link, markup, escape sequence or trailer in it takes effect.',
    checks: [
      'src/kyaml/text/markdown-text.test.ts',
      'test/contract/proposal-markdown.test.ts',
      'src/kyaml/text/foreign-text.test.ts',
      'src/record/commit-message.test.ts',
    ],
    mutants: [
      {
        breaks: 'the fence around code is as long as a run within it',
        file: 'src/kyaml/text/markdown-text.ts',
        find: "const fence = '`'.repeat(measureLongestRun(shown) + 1)",
        replace: "const fence = '`'",
        by: 'src/kyaml/text/markdown-text.test.ts',
      },
      {
        breaks: 'control and format characters are forwarded',
        file: 'src/kyaml/text/foreign-text.ts',
        find: '/[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u2065\\u{e0000}-\\u{e007f}]/gu',
        replace: '/[\\p{Cc}]/gu',
        by: 'src/kyaml/text/foreign-text.test.ts',
      },
    ],
  },
  {
    id: 'P24',
    promise:
      'A package runs no program that the operator did not allow, and none beyond its limits of time, memory and output.',
    checks: [
      'src/kpt/runtime/choose-runtime.test.ts',
      'src/adapters/functions/foreign-functions.test.ts',
      'src/adapters/functions/worker-renderer.test.ts',
      'src/adapters/functions/container-engine.test.ts',
    ],
    mutants: [
      {
        breaks: 'a program that a package names runs',
        file: 'src/kpt/runtime/choose-runtime.ts',
        find: 'if (allowed.exec.includes(text)) {',
        replace: "if (text !== '') {",
        by: 'src/kpt/runtime/choose-runtime.test.ts',
      },
      {
        breaks: 'the output of a program has no limit',
        file: 'src/adapters/functions/run-program.ts',
        find: 'if (written > limits.output)\n        breakLimit(',
        replace: 'if (false) breakLimit(',
        by: 'src/adapters/functions/foreign-functions.test.ts',
      },
    ],
  },
  {
    id: 'P25',
    promise:
      'Every resource is bounded: bodies, their time, pages, refs, files, depth, queues, caches, texts of pull requests.',
    checks: [
      'src/forge/webhook/webhook-server.test.ts',
      'src/cluster/connection/api-connection.test.ts',
      'src/kyaml/text/json-depth.test.ts',
      'src/proposal/text/proposal-text.test.ts',
      'test/hostile/large-files.test.ts',
      'test/contract/repository-http.test.ts',
      'src/system/read-text.test.ts',
      'test/hostile/heavy-files.test.ts',
      'src/git-store/objects/free-memory.test.ts',
    ],
    mutants: [
      {
        breaks: 'a note is kept for each value that has one',
        file: 'src/kyaml/yaml/read/go-yaml-values.ts',
        find: 'const first = noted.get(note.message)',
        replace: 'const first = noted.get(`${noted.size}`)',
        by: 'src/kyaml/yaml/read/go-yaml.test.ts',
      },
      {
        breaks: 'a file may have any number of documents',
        file: 'src/kyaml/yaml/read/go-yaml-text.ts',
        find: 'if (documents > MAX_YAML_DOCUMENTS)',
        replace: 'if (false)',
        by: 'src/sources/kpt/render/bad-input.test.ts',
      },
      {
        breaks: 'a webhook of any length is read',
        file: 'src/forge/webhook/webhook-intake.ts',
        find: 'if (this.bytes >= BODY_LIMIT) {',
        replace: 'if (false) {',
        by: 'src/forge/webhook/webhook-',
      },
      {
        breaks: 'deltas of a pack unfold to any size',
        file: 'src/git-store/objects/pack-entries.ts',
        find: 'if (next.bytes > MOST_CHAIN)',
        replace: 'if (false)',
        by: 'test/hostile/hostile-packs.test.ts',
      },
      {
        breaks: 'a git server that sends a ref a second is read for ever',
        file: 'src/git-store/protocol/byte-reader.ts',
        find: 'deadline(this.#total) - this.#waited',
        replace: 'Number.POSITIVE_INFINITY',
        by: 'test/contract/repository-http.test.ts',
      },
    ],
  },
  {
    id: 'P26',
    promise:
      'Every status states its age, and a unit that cannot be observed is Unknown, never in sync.',
    checks: [
      'src/reconcile/turn/unobserved.test.ts',
      'src/reconcile/turn/ledger-time.test.ts',
      'src/cli/print/freshness.test.ts',
      'test/hostile/rollback.test.ts',
      'test/e2e/status.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'an older observation replaces a newer one',
        file: 'src/plan/observation/seen-at.ts',
        find: 'return at < known && known <= (recorded ? addSeconds(now, CLOCKS_DIFFER) : now)',
        replace: 'return false',
        by: 'src/reconcile/turn/unobserved.test.ts',
      },
      {
        breaks: 'a state is believed although nobody observes the cluster any more',
        file: 'src/cli/print/freshness.ts',
        find: 'if (Date.parse(end) >= now.getTime()) return report',
        replace: "if (end !== '') return report",
        by: 'src/cli/print/freshness.test.ts',
      },
      {
        breaks: 'a package of an unreachable cluster is in sync, because no turn writes its report',
        file: 'src/cli/print/freshness.ts',
        find: "failure === undefined ||\n    state === 'Unknown' ||",
        replace: "report !== undefined ||\n    state === 'Unknown' ||",
        by: 'src/cli/print/freshness.test.ts',
      },
    ],
  },
  {
    id: 'P27',
    promise:
      'A webhook is a hint: a missing, repeated or forged webhook changes the time of an action, not the action.',
    checks: [
      'src/forge/webhook/webhook-intake.test.ts',
      'src/forge/webhook/webhook-signature.test.ts',
      'test/gitea/webhook.gitea.test.ts',
    ],
    mutants: [
      {
        breaks: 'any signature is accepted',
        file: 'src/forge/webhook/webhook-signature.ts',
        find: 'return equal.includes(true)',
        replace: 'return equal.length > 0',
        by: 'src/forge/webhook/webhook-signature.test.ts',
      },
    ],
  },
  {
    id: 'P28',
    promise:
      'Every failure names what, where, why and what to do, with a stable code and exit code.',
    checks: [
      'src/kyaml/failure.test.ts',
      'src/cli/print/failure-guide.test.ts',
      'src/cli/flags/exit-status.test.ts',
    ],
    mutants: [
      {
        breaks: 'a failure contains no next step',
        file: 'src/kyaml/failure.ts',
        find: ', `  fix: ${indentLines(failure.remedy)}`)',
        replace: ')',
        by: 'src/kyaml/failure.test.ts',
      },
      {
        breaks: 'an interrupt is told as a failure',
        file: 'src/kyaml/failure.ts',
        find: 'if (thrown instanceof Interrupted) throw thrown',
        replace: '',
        by: 'src/kyaml/failure.test.ts',
      },
    ],
  },
  {
    id: 'P29',
    promise:
      'State of the previous and the next minor release can be read, and unknown fields are kept.',
    checks: [],
    mutants: [],
    open: 'It waits for the first release: there is none to replay.',
  },
  {
    id: 'P30',
    promise:
      'A release has an SBOM, provenance, signed commits of the bot and a reproducible tarball.',
    checks: [],
    mutants: [],
    open: 'It waits for the first release.',
  },
]
