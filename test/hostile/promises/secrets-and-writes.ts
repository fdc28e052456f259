/** P1 to P7: what never leaves, and what is written once and only with leave. */
import type { Promised } from '../promises.ts'

export const SECRETS_AND_WRITES: readonly Promised[] = [
  {
    id: 'P1',
    promise: 'No value of a Secret, and no value that looks like a credential, leaves the process.',
    checks: [
      'test/hostile/credential-forms.test.ts',
      'test/hostile/credential-places.test.ts',
      'test/hostile/placed-places.test.ts',
      'test/hostile/hidden-reasons.test.ts',
      'src/cli/no-secrets.test.ts',
      'src/kyaml/krm/redaction/redacted.test.ts',
      'test/e2e/canary.live.test.ts',
      'test/e2e/canary.gitea.test.ts',
      'test/e2e/canary-places.gitea.test.ts',
    ],
    mutants: [
      {
        breaks: 'the content of a Secret is shown',
        file: 'src/kyaml/krm/redaction/redacted.ts',
        find: 'if (isSecret(id) && isHiddenOfSecret(path, value))\n    return',
        replace: 'if (isSecret(id) && path.length > 9) return',
        by: 'src/kyaml/krm/redaction/redacted.test.ts',
      },
      {
        breaks: 'a credential is not detected by its name or form',
        file: 'src/kyaml/krm/redaction/redacted.ts',
        find: '  return explainSecret(path, value)\n',
        replace: '  return undefined\n',
        by: 'test/hostile/credential-forms.test.ts',
      },
      {
        breaks: 'a finalizer of a Secret is shown as a part of its path',
        file: 'src/kyaml/krm/redaction/shown-path.ts',
        find: "id !== undefined &&\n        step.kind === 'member'",
        replace: "id === undefined &&\n        step.kind === 'member'",
        by: 'test/hostile/placed-places.test.ts',
      },
      {
        breaks: 'import writes an object with a credential',
        file: 'src/reconcile/onboard/import-namespace.ts',
        find: 'if (first !== undefined)\n      return createNotImported(id, createCredential',
        replace: 'if (first === undefined)\n      return createNotImported(id, createCredential',
        by: 'test/hostile/placed-places.test.ts',
      },
      {
        breaks: 'a name and its value are joined in texts alone',
        file: 'src/kyaml/krm/redaction/looks-secret.ts',
        find: 'isNamedCredential(name, value),',
        replace: 'name === value,',
        by: 'test/hostile/credential-places.test.ts',
      },
      {
        breaks: 'a number of tokens is hidden as if it were one',
        file: 'src/kyaml/krm/redaction/credential-names.ts',
        find: 'if (isCredentialName(name)) return !isAmount(name, value)',
        replace: 'if (isCredentialName(name)) return true',
        by: 'test/hostile/credential-places.test.ts',
      },
    ],
  },
  {
    id: 'P2',
    promise:
      'A changed secret has a changed keyed hash, which cannot be reversed by guesses without the key.',
    checks: ['src/kyaml/krm/redaction/redacted.test.ts'],
    mutants: [
      {
        breaks: 'the hash has no key',
        file: 'src/kyaml/krm/redaction/redacted.ts',
        find: "createHmac('sha256', key.prepared)",
        replace: "createHash('sha256')",
      },
    ],
  },
  {
    id: 'P3',
    promise:
      'Credentials are never printed: not those in an address, in an error of a server, or in a program’s output.',
    checks: [
      'src/git-store/protocol/remote-address.test.ts',
      'src/kyaml/text/foreign-text.test.ts',
      'src/cluster/connection/credentials.test.ts',
    ],
    mutants: [
      {
        breaks: 'the address is printed with its user and password',
        file: 'src/git-store/protocol/remote-address.ts',
        find: "return { kind: 'http', printed: location + path,",
        replace: "return { kind: 'http', printed: url.href,",
      },
      {
        breaks: 'a secret in the text of a server is forwarded',
        file: 'src/kyaml/text/foreign-text.ts',
        find: "rest.replaceAll(secret, '***')",
        replace: 'rest',
      },
    ],
  },
  {
    id: 'P4',
    promise: 'A unit has at most one open pull request, whatever fails in between.',
    checks: [
      'test/crash/kill-pull-requests.test.ts',
      'test/gitea/gitea-faults.test.ts',
      'test/gitea/gitea-contract.test.ts',
      'test/gitea/gitea-changes.test.ts',
      'test/forge/github/github-contract.test.ts',
    ],
    mutants: [
      {
        breaks: 'on Gitea one is opened without a check for an open one',
        file: 'src/forge/gitea/gitea-proposals.ts',
        find: 'given ?? (await this.findOpen(wanted, signal)) ?? (await this.#openNew(wanted, known, signal))',
        replace: 'given ?? (await this.#make(wanted, signal))',
        by: 'test/gitea/gitea-contract.test.ts',
      },
      {
        breaks: 'on Gitea the second of two concurrent ones stays open',
        file: 'src/forge/gitea/gitea-proposals.ts',
        find: 'if (number !== retained) await this.close(number, signal)',
        replace: 'if (number === retained) await this.close(number, signal)',
        by: 'test/gitea/gitea-changes.test.ts',
      },
      {
        breaks: 'on GitHub one is opened without a check for an open one',
        file: 'src/forge/github/github-proposals.ts',
        find: 'const there = given ?? (await this.#findOpen(wanted, known, signal))',
        replace: 'const there = given',
        by: 'test/forge/github/github-contract.test.ts',
      },
    ],
    open: 'Two controllers may open two on Gitea at the same moment, until one of them is the leader: the one with the lowest number stays, and the other one is closed with a link to it.',
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
      'src/controller/turn-intake.test.ts',
    ],
    mutants: [
      {
        breaks: 'a repeated approve does not find its own merge',
        file: 'src/reconcile/turn/decide.ts',
        find: "const own = verb === 'approve' ? findOwnMerge(observation, decider.name) : undefined",
        replace:
          "const own = verb === 'approve' ? undefined : findOwnMerge(observation, decider.name)",
        by: 'test/hostile/approve-killed.test.ts',
      },
      {
        breaks: 'a proposal that gave way is forgotten',
        file: 'src/controller/turn-intake.ts',
        find: 'for (const unit of result.postponed)',
        replace: 'for (const unit of [] as typeof result.postponed)',
        by: 'src/controller/turn-intake.test.ts',
      },
      {
        breaks: 'a tag that an earlier turn set is not found again',
        file: 'src/plan/unit/found-decisions.ts',
        find: 'if (tag?.packagePath === unit.packageName) return tag.revision',
        replace: 'if (tag?.packagePath === unit.packageName) return undefined',
        by: 'test/crash/kill-',
      },
    ],
  },
  {
    id: 'P6',
    promise:
      'Nothing is written to a cluster unless a merged commit authorises it, and then exactly the approved items.',
    checks: [
      'src/plan/unit/plan-settle.test.ts',
      'src/cluster/apply/api-server-writer.test.ts',
      'test/e2e/settle.live.test.ts',
    ],
    mutants: [
      {
        breaks: 'a write that names no commit is sent',
        file: 'src/cluster/apply/api-server-writer.ts',
        find: 'if (!COMMIT.test(commit) || !EPISODE.test(episode)) {',
        replace: 'if (!EPISODE.test(episode)) {',
        by: 'src/cluster/apply/api-server-writer',
      },
      {
        breaks: 'differences that were not approved are written too',
        file: 'src/plan/unit/plan-settle.ts',
        find: 'const changes = own.filter(({ fingerprint }) => approved.has(fingerprint))',
        replace: 'const changes = own',
        by: 'src/plan/unit/plan-settle.test.ts',
      },
    ],
  },
  {
    id: 'P7',
    promise: 'A ref moves only from its last observed commit; the base branch is never forced.',
    checks: [
      'src/git-store/repository/repository-local.test.ts',
      'test/contract/repository-http.test.ts',
      'test/contract/repository-remote.test.ts',
    ],
    mutants: [
      {
        breaks: 'the current commit of the ref is not compared with the observed one',
        file: 'src/git-store/push/push-refs.ts',
        find: 'if (moved.length > 0) throw createLeaseLostFailure(parts.remote, moved, [])',
        replace: '',
        by: 'src/git-store/repository/repository',
      },
    ],
  },
]
