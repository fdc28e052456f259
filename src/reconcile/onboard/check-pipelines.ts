/**
 * Finds pipelines that apply every manifest below a folder
 * (docs/adr/0067-names-that-no-applier-reads.md). They do not read `.policy` and `.record` files,
 * but they read the files of earlier versions.
 */
import type { PackageRepository, TreeFile } from '@backporch/git-store/package-repository'
import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine, matchesGlob } from '@backporch/kyaml/text'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { renameFix } from '../../syncers/sync-path.ts'
import type { SyncedRepository } from '../../syncers/syncer.ts'

interface SweepingCommand {
  readonly command: string
  readonly where: string
}

const PIPELINES = [
  '.github/workflows/*',
  '.gitea/workflows/*',
  '.forgejo/workflows/*',
  '.gitlab-ci.y*ml',
  '.gitlab/*',
  '.circleci/config.y*ml',
  '.tekton/*',
  '.woodpecker.y*ml',
  '.woodpecker/*',
  '.buildkite/*',
  '.drone.y*ml',
  'azure-pipelines.y*ml',
  'bitbucket-pipelines.yml',
  'cloudbuild.y*ml',
  '*/Jenkinsfile',
  'Jenkinsfile',
  'Makefile',
  'Taskfile.y*ml',
  'justfile',
  'skaffold.y*ml',
  '*.sh',
]

const MOST_FILES = 200

const ROOT = /(?:^|\s)(?:-f|--filename|--file)[\s=]*(?:\.\/?|"\.\/?"|\$\(pwd\)|\$PWD)(?=\s|$)/

const SWEEPS: readonly (readonly [command: string, matches: (line: string) => boolean])[] = [
  [
    'kubectl on every manifest',
    (line) =>
      /\bkubectl\b.*\s(?:apply|create|replace|diff|delete)\b/.test(line) &&
      (/\s(?:-R|--recursive)\b/.test(line) || ROOT.test(line)),
  ],
  [
    'kapp deploy',
    (line) => /\bkapp\s+(?:deploy|app-group\s+deploy)\b/.test(line) && ROOT.test(line),
  ],
  ['kustomize create --autodetect', (line) => /\bkustomize\s+create\b.*--autodetect\b/.test(line)],
  [
    'a linter of manifests',
    (line) =>
      /\b(?:kubeconform|kubeval|kube-linter\s+lint|polaris\s+audit|datree\s+test|pluto\s+detect-files)\b/.test(
        line,
      ),
  ],
  ['kluctl deploy', (line) => /\bkluctl\s+deploy\b/.test(line)],
  ['fleet apply', (line) => /\bfleet\s+apply\b/.test(line)],
]

export async function readSweepingCommands(
  repository: PackageRepository,
  tree: readonly TreeFile[],
  signal: AbortSignal,
): Promise<readonly SweepingCommand[]> {
  const files = tree
    .filter(
      ({ path, mode }) => PIPELINES.some((glob) => matchesGlob(glob, path)) && mode !== '120000',
    )
    .slice(0, MOST_FILES)
  const texts = await readTexts(repository, files, signal, () => undefined)
  return [...texts].flatMap(([path, text]) => {
    return joinContinuedLines(text).flatMap(({ line, number }): SweepingCommand[] => {
      if (/^\s*#/.test(line)) return []
      const [command] = SWEEPS.find(([, matches]) => matches(line)) ?? []
      return command === undefined ? [] : [{ command, where: `${path}:${number}` }]
    })
  })
}

function joinContinuedLines(
  text: string,
): readonly { readonly line: string; readonly number: number }[] {
  const lines = text.split(/\r?\n/)
  return lines.flatMap((first, index) => {
    if (lines[index - 1]?.endsWith('\\')) return []
    let line = first
    for (let next = index + 1; line.endsWith('\\'); next++)
      line = `${line.slice(0, -1)} ${lines[next]?.trimStart() ?? ''}`
    return [{ line, number: index + 1 }]
  })
}

export function judgePipelines(
  { folder, retained }: SyncedRepository,
  commands: readonly SweepingCommand[],
): readonly Finding[] {
  const shown = commands
    .slice(0, 3)
    .map(({ command, where }) => `${command} (${convertToOneLine(where)})`)
  const more = commands.length > shown.length ? ` and ${commands.length - shown.length} more` : ''
  const seen = `${shown.join(', ')}${more}`
  const [first] = retained
  if (first === undefined) {
    if (commands.length === 0) return []
    return [
      {
        check: 'pipelines',
        state: 'passed',
        message: `pipelines: no file of ${folder}/ has a name that ${seen} reads`,
      },
    ]
  }
  const files = `${convertToOneLine(first.path)}${retained.length > 1 ? ` and ${retained.length - 1} more` : ''}`
  const fix = renameFix(retained)
  if (commands.length > 0)
    return [
      {
        check: 'pipelines',
        state: 'warning',
        message: `pipelines: ${files} would be read by ${seen}`,
        fix,
      },
    ]
  // A pipeline outside of the repository may exist: the message says what it would read.
  const message = `pipelines: none found here; one that applies every manifest of the repository, as kubectl apply -R -f . does, would read ${files}`
  return [{ check: 'pipelines', state: 'skipped', message, fix }]
}
