/** Each build gets a folder with only the files that it may read. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { splitWords } from '@backporch/kpt/runtime'
import type { FailureDetail } from '@backporch/kyaml/failure'
import { findProgram } from '@backporch/system/find-program'
import { LRUCache } from 'lru-cache'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import {
  type Build,
  type BuildAnswer,
  type BuildLibrary,
  buildKey,
  type PackageBuilder,
} from '../../sources/programs/package-builder.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import type { ValueDecryptor } from '../../sources/programs/value-decryptor.ts'
import { makeScratchFolder } from '../system/scratch-folder.ts'
import { containsSecret, ENABLE_HELM, hasSecrets, mayVary, needsHelm } from './build-content.ts'
import { FUNCTION_LIMITS, type FunctionLimits } from './function-limits.ts'
import type { KeptBuilds } from './kept-builds.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'

interface PackageBuildsOptions {
  /** `kubectl`, `/usr/local/bin/jsonnet`, `helm template .` */
  readonly allowed: readonly string[]
  /** Commands get only its PATH, kubectl and helm nothing. */
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits?: FunctionLimits
  readonly kept?: KeptBuilds
}

const KEPT = 64 * 1024 * 1024
const FAILED = 512
const WIDTH = 2
/** Nothing listens here. It blocks kustomize fetches that the check of the kustomization missed. */
const NO_NETWORK = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '',
}

const OWN_TOOLS = {
  kustomize: {
    name: 'kubectl',
    what: 'kubectl kustomize must build the folder',
    otherwise: ', or set spec.render.tool: files in a policy to compare the files as they are',
  },
  helm: { name: 'helm', what: 'helm template must render the chart', otherwise: '' },
} as const

function listHelmFolders(root: string): { readonly [name: string]: string } {
  const nothing = join(root, '.git', 'helm')
  return {
    HELM_CACHE_HOME: nothing,
    HELM_CONFIG_HOME: nothing,
    HELM_DATA_HOME: nothing,
    HELM_PLUGINS: join(nothing, 'plugins'),
    KUBECONFIG: join(nothing, 'kubeconfig'),
    HOME: nothing,
    TMPDIR: root,
  }
}

interface Program {
  readonly program: string
  readonly words: readonly string[]
  readonly environment: { readonly [name: string]: string }
}

export class PackageBuilds implements PackageBuilder {
  readonly library: BuildLibrary
  private readonly options: PackageBuildsOptions
  private readonly answers = new LRUCache<string, BuildAnswer>({ maxSize: KEPT })
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(options: PackageBuildsOptions) {
    this.options = options
    this.library = {
      built: (build) => {
        const known = this.answers.get(buildKey(build))
        if (known === undefined) throw new Unanswered({ kind: 'builds', builds: [build] })
        return known
      },
    }
  }

  async build(build: Build, signal: AbortSignal): Promise<BuildAnswer> {
    const key = buildKey(build)
    const known = this.answers.get(key)
    if (known !== undefined) return known
    const answer = await this.runUnlessKept(build, signal)
    if (!('failure' in answer))
      this.answers.set(key, answer, { size: 2 * answer.text.length + FAILED })
    else if (answer.failure.retry !== 'backoff') this.answers.set(key, answer, { size: FAILED })
    return answer
  }

  private async runUnlessKept(build: Build, signal: AbortSignal): Promise<BuildAnswer> {
    const program = this.choose(build)
    if ('failure' in program) return program
    const { kept } = this.options
    // Builds that use a second program, vary, or contain Secrets run every time.
    const isKept =
      build.tool !== 'command' &&
      !build.command.includes(ENABLE_HELM) &&
      !mayVary(build) &&
      !hasSecrets(build)
    if (kept === undefined || !isKept) return this.runInTurn(() => this.run(build, program, signal))
    const entry = kept.createEntry(program.program, [...program.words, buildKey(build)])
    const text = await entry.read()
    if (text !== undefined) return { text }
    const answer = await this.runInTurn(() => this.run(build, program, signal))
    if ('text' in answer && !containsSecret(answer.text)) await entry.write(answer.text)
    return answer
  }

  private async runInTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= WIDTH) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running += 1
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.running -= 1
      else next()
    }
  }

  private async run(build: Build, program: Program, signal: AbortSignal): Promise<BuildAnswer> {
    const root = await makeScratchFolder('backporch-build-')
    try {
      const why = await explainWriteFailure(root, build)
      if (why !== undefined)
        return createBuildFailure(build, why, 'correct the names of its files', 'on-change')
      const first = await this.runOnce(build, program, root, signal)
      // kustomize is known to be deterministic.
      if (!mayVary(build) || 'failure' in first) return first
      await rm(root, { recursive: true, force: true })
      await writeFiles(root, build)
      const second = await this.runOnce(build, program, root, signal)
      if ('failure' in second || second.text === first.text) return second
      return createBuildFailure(
        build,
        'two runs printed different output',
        'remove dates and random values from its output',
        'on-change',
      )
    } finally {
      await rm(root, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
    }
  }

  private choose({ tool, command, folder }: Build): Program | { readonly failure: FailureDetail } {
    const { allowed, environment } = this.options
    const path = environment['PATH'] ?? ''
    if (tool === 'helm') return this.chooseOwnTool(tool, folder, command)
    if (tool === 'kustomize') {
      const words = [
        'kustomize',
        folder === '' ? '.' : `./${folder}`,
        '--load-restrictor=LoadRestrictionsNone',
        ...command,
      ]
      const kustomize = this.chooseOwnTool(tool, folder, words)
      if ('failure' in kustomize || !command.includes(ENABLE_HELM)) return kustomize
      const helm = this.chooseOwnTool('helm', folder, [])
      return 'failure' in helm
        ? helm
        : { ...kustomize, words: [...words, `--helm-command=${helm.program}`] }
    }
    const [name = '', ...words] = command
    const isAllowed = allowed.some(
      (text) => JSON.stringify(splitWords(text)) === JSON.stringify(command),
    )
    if (!isAllowed || (name.includes('/') && !name.startsWith('/')))
      return createNotAllowedFailure(formatCommand(command), describeCommand(command), folder)
    const program = findProgram(name, path)
    return program === undefined
      ? createMissingProgramFailure(name, folder)
      : { program, words, environment: { PATH: path } }
  }

  private chooseOwnTool(
    tool: keyof typeof OWN_TOOLS,
    folder: string,
    words: readonly string[],
  ): Program | { readonly failure: FailureDetail } {
    const { allowed, environment } = this.options
    const { name, what, otherwise } = OWN_TOOLS[tool]
    const named = allowed.find(
      (each) => each === name || (each.startsWith('/') && each.endsWith(`/${name}`)),
    )
    if (named === undefined) return createNotAllowedFailure(name, what, folder, otherwise)
    const program = findProgram(named, environment['PATH'] ?? '')
    return program === undefined
      ? createMissingProgramFailure(named, folder)
      : { program, words, environment: NO_NETWORK }
  }

  private async runOnce(
    build: Build,
    { program, words, environment }: Program,
    root: string,
    signal: AbortSignal,
  ): Promise<BuildAnswer> {
    const limits = this.options.limits ?? FUNCTION_LIMITS
    const end = await runProgram(
      {
        program,
        words,
        folder: build.tool === 'command' ? join(root, build.folder) : root,
        input: '',
        environment: {
          ...environment,
          ...(needsHelm(build) ? listHelmFolders(root) : {}),
          LANG: 'C.UTF-8',
          TZ: 'UTC',
        },
        limits,
      },
      signal,
    )
    return convertAnswer(build, end, root)
  }
}

/** A stored chart may contain a file and a folder with the same name. */
async function explainWriteFailure(root: string, build: Build): Promise<string | undefined> {
  try {
    await writeFiles(root, build)
    return undefined
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (
      !['EISDIR', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'EINVAL', 'ERR_INVALID_ARG_VALUE'].includes(
        code,
      )
    )
      throw thrown
    return `its files cannot be written into one folder (${code})`
  }
}

async function writeFiles(root: string, { folder, files }: Build): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  for (const { path, mode, content } of files) {
    if (mode === '120000' || mode === '160000') continue
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content, { mode: mode === '100755' ? 0o755 : 0o644 })
  }
}

function convertAnswer(build: Build, end: ProgramEnd, root: string): BuildAnswer {
  if (end.is !== 'ended')
    return createBuildFailure(
      build,
      end.why,
      'reduce its input, or correct it; the limits are fixed',
      'backoff',
    )
  if (end.exitCode === 0) return { text: end.stdout }
  // Messages of kustomize and Helm quote their input.
  if (hasSecrets(build))
    return createBuildFailure(
      build,
      `exit code ${end.exitCode}; its output is not shown, because it reads Secrets`,
      `correct it${hint(build)}`,
      'on-change',
    )
  const [text = ''] = end.stderr
    .replaceAll(`${root}/`, '')
    .replaceAll(root, '.')
    .split('\n')
    // kubectl writes the error below or inside a log line, and after warnings.
    .filter((line) => line.trim() !== '' && !/^[EF]\d{4} .*err=<$|^# Warning: |^W\d{4} /.test(line))
  const why =
    text
      .trim()
      .replace(/^[EF]\d{4} .*? err="(.*)"$/, (_, inner: string) => inner.replaceAll('\\"', '"'))
      .replace(/^error: /i, '')
      .slice(0, 400) || undefined
  return createBuildFailure(
    build,
    `exit code ${end.exitCode}${why === undefined ? '' : `: ${why}`}`,
    `correct the reported error${hint(build)}`,
    'on-change',
  )
}

function hint({ tool, folder }: Build): string {
  if (tool === 'command') return ''
  return `, and try it with ${tool === 'kustomize' ? 'kubectl kustomize' : 'helm template'} ${folder || '.'}`
}

function getName({ tool, command }: Build): string {
  if (tool === 'helm') return 'helm template'
  return tool === 'kustomize' ? 'kubectl kustomize' : (command[0] ?? '')
}

function createBuildFailure(
  build: Build,
  why: string,
  remedy: string,
  retry: 'backoff' | 'on-change',
): { readonly failure: FailureDetail } {
  const what = `${getName(build)}, which renders the package, failed`
  return { failure: { code: 'BP1209', what, where: build.folder || '.', why, remedy, retry } }
}

function createMissingProgramFailure(
  program: string,
  folder: string,
): { readonly failure: FailureDetail } {
  return {
    failure: {
      code: 'BP1209',
      what: `${program}, which renders the package, cannot be started`,
      where: folder || '.',
      why: 'it is not on the PATH, or it cannot be run',
      remedy: 'install it where backporch runs',
      retry: 'backoff',
    },
  }
}

function formatCommand(command: readonly string[]): string {
  return command
    .map((word) =>
      /^[\w./:=@%+,-]+$/.test(word) ? word : `"${word.replaceAll(/[\\"]/g, '\\$&')}"`,
    )
    .join(' ')
}

function describeCommand(command: readonly string[]): string {
  return `the policy renders the package with ${JSON.stringify(command.join(' ').slice(0, 120))}`
}

function createNotAllowedFailure(
  allow: string,
  what: string,
  folder: string,
  otherwise = '',
): { readonly failure: FailureDetail } {
  return {
    failure: {
      code: 'BP1208',
      what,
      where: folder || '.',
      why: 'only the command line and the environment can allow a program to run, and they do not allow this one',
      remedy: `pass --allow-render='${allow}' to a command that may run it, or set BACKPORCH_ALLOW_RENDER for all commands${otherwise}`,
      retry: 'on-change',
    },
  }
}

export function addPackageBuilds(
  renderer: PackageRenderer,
  builder: PackageBuilder,
  decryptor?: ValueDecryptor,
): PackageRenderer {
  return {
    attributed: renderer.attributed,
    library: renderer.library,
    render: (packagePath, files, signal) => renderer.render(packagePath, files, signal),
    fetch: (call, signal) => renderer.fetch(call, signal),
    builder,
    decryptor,
  }
}
