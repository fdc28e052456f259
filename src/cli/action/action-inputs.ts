/** The runner passes `with:` values as `INPUT_*` variables (actions/runner, Handler.cs). */
import { Failure } from '@backporch/kyaml/failure'
import { RISKS } from '../../drift/compare/drift.ts'
import type { CliContext } from '../context/cli-context.ts'

const ACTION_COMMANDS = ['scan', 'diff', 'verify-pr', 'preview'] as const
type ActionCommand = (typeof ACTION_COMMANDS)[number]

const FAIL_ON = ['none', ...RISKS, 'any'] as const
export type FailOn = (typeof FAIL_ON)[number]

export interface ActionTarget {
  /** Undefined: the context's name. */
  readonly cluster: string | undefined
  readonly flags: readonly string[]
}

export interface ActionInputs {
  readonly command: ActionCommand
  readonly repo: string
  readonly branch: string | undefined
  readonly packages: readonly string[]
  readonly targets: readonly ActionTarget[]
  /** Undefined if the environment has the credential. */
  readonly token: string | undefined
  /** Undefined if the environment has one, or commits are not signed. */
  readonly signingKey: string | undefined
  /** The workflow token: workflows on its pull requests wait for an approval. */
  readonly ownToken: boolean
  readonly failOn: FailOn
  readonly summary: boolean
  readonly comment: boolean
  readonly partialOk: boolean
}

/** @throws Failure BP1001 for an invalid value */
export function readActionInputs(env: CliContext['env']): ActionInputs {
  const command = getChoice(env, 'command', ACTION_COMMANDS, 'scan')
  const token = getInput(env, 'token')
  const named = (name: string): boolean => Boolean(env[name])
  return {
    command,
    repo: getInput(env, 'repo') ?? getOwnRepository(env),
    branch: getInput(env, 'branch'),
    packages: parseWords(getInput(env, 'packages')),
    targets: listTargets(env),
    token,
    signingKey: getInput(env, 'signing-key'),
    ownToken:
      token !== undefined &&
      token === getInput(env, 'workflow-token') &&
      !named('BACKPORCH_TOKEN') &&
      !named('BACKPORCH_APP_ID'),
    failOn: getChoice(env, 'fail-on', FAIL_ON, 'high'),
    summary: getChoice(env, 'summary', ['true', 'false'] as const, 'true') === 'true',
    comment: getChoice(env, 'comment', ['true', 'false'] as const, 'true') === 'true',
    partialOk: getChoice(env, 'partial', ['fail', 'ok'] as const, 'fail') === 'ok',
  }
}

/**
 * The runner upper-cases names and replaces blanks by `_`; hyphens stay. An input that is not
 * given is empty there.
 */
function getInput(env: CliContext['env'], name: string): string | undefined {
  return env[`INPUT_${name.toUpperCase()}`]?.trim() || undefined
}

function getOwnRepository(env: CliContext['env']): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
  return server && repository ? `${server}/${repository}` : '.'
}

function listTargets(env: CliContext['env']): ActionTarget[] {
  const [names, live, kubeconfig] = [
    parseWords(getInput(env, 'clusters')),
    getInput(env, 'live'),
    getInput(env, 'kubeconfig'),
  ]
  if (live !== undefined && names.length > 1) {
    throw createInputFailure(
      'live',
      'it is a recording of one cluster, and the input clusters names several',
      'name one cluster',
    )
  }
  const each = (flag: string): string[] =>
    splitLines(getInput(env, flag)).map((value) => `--${flag}=${value}`)
  const engine = getInput(env, 'container-engine')
  const operator = [
    ...['operator-policy', 'allow-exec', 'allow-module', 'allow-image', 'allow-render'].flatMap(
      each,
    ),
    ...(engine === undefined ? [] : ['--container-engine', engine]),
  ]
  const shared = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...splitLines(getInput(env, 'kubeconfig-exec-allow')).flatMap((path) => [
      '--kubeconfig-exec-allow',
      path,
    ]),
    ...operator,
  ]
  if (live !== undefined)
    return [
      {
        cluster: names[0],
        flags: [
          '--live',
          live,
          ...(names[0] === undefined ? [] : ['--cluster', names[0]]),
          ...operator,
        ],
      },
    ]
  if (names.length === 0) return [{ cluster: undefined, flags: shared }]
  return names.map((name) => ({
    cluster: name,
    flags: ['--context', name, '--cluster', name, ...shared],
  }))
}

function splitLines(text = ''): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function parseWords(text = ''): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((word) => word !== ''))]
}

function getChoice<Value extends string>(
  env: CliContext['env'],
  name: string,
  values: readonly Value[],
  preset: Value,
): Value {
  const given = getInput(env, name)
  if (given === undefined) return preset
  const found = values.find((value) => value === given)
  if (found !== undefined) return found
  throw createInputFailure(
    name,
    `it is ${JSON.stringify(given.slice(0, 60))}`,
    `give one of ${values.join(', ')}`,
  )
}

function createInputFailure(name: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1001',
    what: `the input ${name} cannot be used`,
    where: 'the step of the workflow',
    why,
    remedy,
  })
}
