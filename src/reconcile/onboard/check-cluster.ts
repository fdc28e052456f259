import type { AccessRule, ClusterAccessAnswer } from '@backporch/cluster/cluster'
import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'

/** Without `patch` and `create`, which dry runs need. */
const WRITING = ['update', 'delete', 'deletecollection', 'impersonate', 'bind', 'escalate', '*']
const SHOWN = 4
/** Seconds of clock difference: tokens of GitHub Apps fail from 60 on. */
const SKEW = 30

/** They store nothing, and every account may (ClusterRole system:basic-user). */
const HARMLESS = /^selfsubject(access|rules)?reviews$/

export function judgeAccess(
  cluster: string,
  answers: ReadonlyMap<string, ClusterAccessAnswer>,
  settles: boolean,
): readonly Finding[] {
  const rules = [...answers].flatMap(([namespace, { rules: own }]) =>
    own.map((rule) => ({ namespace, rule })),
  )
  const all = rules.map(({ rule }) => rule)
  const writes = new Set(
    rules.flatMap(({ rule, namespace }) =>
      getWrites(rule).map((what) => `${what} in ${namespace}`),
    ),
  )
  const findings: Finding[] = [
    judgeReading(cluster, answers),
    judgeWatching(cluster, all),
    judgePatch(cluster, answers),
  ]
  const where = `cluster ${cluster}`
  if (writes.size > 0) {
    findings.push({
      check: 'cluster-rbac',
      state: settles ? 'passed' : 'warning',
      message: `${where}: the account may write: ${formatShownTexts([...writes])}${settles ? ' (a policy has settle: backporch, which needs it)' : ''}`,
      ...(settles
        ? {}
        : {
            fix: 'give the account the rights that backporch rbac prints, and no others',
          }),
    })
  } else if (settles) {
    const message = `${where}: a policy has settle: backporch, and the account may not write`
    findings.push({
      check: 'cluster-rbac',
      state: 'warning',
      message,
      fix: 'give the account the rights that backporch rbac --level settle prints, or use settle: syncer',
    })
  } else
    findings.push({
      check: 'cluster-rbac',
      state: 'passed',
      message: `${where}: the account updates and deletes nothing`,
    })
  findings.push(...judgeTakeovers(where, answers))
  if ([...answers.values()].some(({ incomplete }) => incomplete)) {
    const message = `${where}: the authoriser does not list all rights, so there may be more of them`
    findings.push({ check: 'cluster-rbac', state: 'skipped', message })
  }
  return findings
}

/** Each gives rights that the role does not name. */
const TAKEOVER_VERBS = ['impersonate', 'bind', 'escalate']
const TAKEOVER_PARTS = /\/(exec|attach|portforward|proxy|token|ephemeralcontainers)$/
const SERVICE_ACCOUNT = 'system:serviceaccount:'

/** A person may have more rights than Backporch needs; a ServiceAccount is there for Backporch. */
function judgeTakeovers(
  where: string,
  answers: ReadonlyMap<string, ClusterAccessAnswer>,
): readonly Finding[] {
  const found = new Set(
    [...answers].flatMap(([namespace, { rules }]) =>
      rules.flatMap(listTakeovers).map((what) => `${what} in ${namespace}`),
    ),
  )
  if (found.size === 0) return []
  const isAccount = [...answers.values()].some(({ user }) => user?.startsWith(SERVICE_ACCOUNT))
  return [
    {
      check: 'cluster-rbac',
      state: isAccount ? 'failed' : 'warning',
      message: `${where}: the account may do more than Backporch ever does, such as reading all Secrets, running commands in Pods or creating tokens: ${formatShownTexts([...found])}`,
      fix: 'give the account the rights that backporch rbac prints, and no others',
    },
  ]
}

function listTakeovers({ verbs, groups, resources }: AccessRule): readonly string[] {
  const everything = resources.includes('*')
  const taken = verbs.filter((verb) => TAKEOVER_VERBS.includes(verb))
  const parts = resources.filter((resource) => TAKEOVER_PARTS.test(resource))
  const isCore = groups.includes('') || groups.includes('*')
  return [
    ...(everything && isCore ? [`${verbs.join(', ')} *`] : []),
    ...(taken.length > 0 && !everything ? [`${taken.join(', ')} ${resources.join(', ')}`] : []),
    ...(parts.length > 0 ? [`${verbs.join(', ')} ${parts.join(', ')}`] : []),
  ]
}

type Answers = ReadonlyMap<string, Pick<ClusterAccessAnswer, 'rules'>>

function judgeReading(cluster: string, answers: Answers): Finding {
  const missing = ['get', 'list'].filter((verb) => listNamespacesWithout(verb, answers).length > 0)
  const namespaces = [...new Set(missing.flatMap((verb) => listNamespacesWithout(verb, answers)))]
  if (missing.length === 0)
    return {
      check: 'cluster-read',
      state: 'passed',
      message: `cluster ${cluster}: the account may get and list`,
    }
  return {
    check: 'cluster-read',
    state: 'failed',
    code: 'BP3003',
    message: `cluster ${cluster}: the account may not ${missing.join(' or ')} anything in ${formatNamespaces(namespaces)}`,
    fix: 'give the account the rights that backporch rbac prints',
  }
}

function listNamespacesWithout(verb: string, answers: Answers): readonly string[] {
  return [...answers].flatMap(([namespace, { rules }]) =>
    rules.some((rule) => coversVerb(rule, verb)) ? [] : [namespace],
  )
}

function formatNamespaces(namespaces: readonly string[]): string {
  return `${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${namespaces.join(', ')}`
}

/** They affect a dry run's answer; `KindEpochs` follows them. */
const DECIDING = [
  'customresourcedefinitions',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
]

function judgeWatching(cluster: string, rules: readonly AccessRule[]): Finding {
  const check = 'cluster-watch'
  if (!rules.some((rule) => coversVerb(rule, 'watch'))) {
    const message = `cluster ${cluster}: the account may not watch, so the controller reads all packages in each interval`
    return {
      check,
      state: 'warning',
      message,
      fix: 'give the account the rights that backporch rbac prints',
    }
  }
  const isFollowed = (resource: string): boolean =>
    ['list', 'watch'].every((verb) =>
      rules.some(
        (rule) =>
          coversVerb(rule, verb) && rule.resources.some((own) => own === resource || own === '*'),
      ),
    )
  const missing = DECIDING.filter((resource) => !isFollowed(resource))
  if (missing.length === 0)
    return { check, state: 'passed', message: `cluster ${cluster}: the account may watch` }
  return {
    check,
    state: 'warning',
    message: `cluster ${cluster}: the account may not list and watch ${missing.join(', ')}, so each observation by the controller repeats its dry runs`,
    fix: 'give the account the rights that backporch rbac prints',
  }
}

function judgePatch(cluster: string, answers: Answers): Finding {
  const rules = [...answers.values()].flatMap((answer) => answer.rules)
  const without = listNamespacesWithout('patch', answers)
  if (without.length === 0) {
    const both = rules.some(
      (rule) =>
        coversVerb(rule, 'create') && rule.resources.some((resource) => !HARMLESS.test(resource)),
    )
    const lacks =
      'it may not create, so objects without managers and missing objects cannot be dry-run'
    const message = `cluster ${cluster}: the account may patch${both ? ' and create' : ''}, which dry runs need; a ValidatingAdmissionPolicy can restrict it to dry runs`
    return {
      check: 'cluster-dry-run',
      state: 'passed',
      message: both ? message : `${message}; ${lacks}`,
    }
  }
  return {
    check: 'cluster-dry-run',
    state: 'warning',
    message: `cluster ${cluster}: the account may not patch in ${formatNamespaces(without)}, so nothing can be dry-run there: what ownership does not prove stays Unverified`,
    fix: 'give the account the rights that backporch rbac prints',
  }
}

function getWrites({ verbs, groups, resources }: AccessRule): string[] {
  // Backporch creates no subresource (a token, an exec) in a dry run.
  const parts = resources.some((resource) => resource === '*' || resource.includes('/'))
  const written = verbs.filter((verb) => WRITING.includes(verb) || (verb === 'create' && parts))
  const touched = resources.filter((resource) => !HARMLESS.test(resource))
  if (written.length === 0 || touched.length === 0) return []
  const group = groups.find((name) => name !== '')
  return touched.map(
    (resource) =>
      `${written.join(', ')} ${resource}${group === undefined || group === '*' ? '' : `.${group}`}`,
  )
}

function coversVerb({ verbs, resources }: AccessRule, verb: string): boolean {
  return resources.length > 0 && (verbs.includes(verb) || verbs.includes('*'))
}

function formatShownTexts(texts: readonly string[]): string {
  const more = texts.length - SHOWN
  return `${texts.slice(0, SHOWN).join('; ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** @param now, serverTime milliseconds since 1970; a server's time has whole seconds */
export function judgeClock(
  server: string,
  serverTime: number | undefined,
  now: number,
): readonly Finding[] {
  if (serverTime === undefined) return []
  const seconds = Math.round(Math.abs(now - serverTime) / 1000)
  if (seconds <= SKEW)
    return [{ check: 'clock', state: 'passed', message: `clock: within ${SKEW} s of ${server}` }]
  const message = `clock: ${seconds} s ${now > serverTime ? 'ahead of' : 'behind'} ${server}`
  return [
    {
      check: 'clock',
      state: 'warning',
      message,
      fix: 'set the clock of this machine: tokens and times of records depend on it',
    },
  ]
}

export function createNotAskedFindings(
  cluster: string,
  namespaces: readonly string[],
): readonly Finding[] {
  if (namespaces.length === 0) return []
  const message = `cluster ${cluster}: the rights in further namespaces of the packages were not asked for: ${formatShownTexts(namespaces.map((name) => convertToOneLine(name)))}`
  return [{ check: 'cluster-rbac', state: 'skipped', message }]
}
