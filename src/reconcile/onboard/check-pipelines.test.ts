import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { judgePipelines, readSweepingCommands } from './check-pipelines.ts'
import { readBase, readSynced } from './check-repository.ts'

const signal = new AbortController().signal
const POLICY = 'kind: DriftPolicy\n'

async function judged(files: { readonly [path: string]: string }) {
  const repository = new MemoryRepository()
  repository.commitByHand('main', files)
  const base = await readBase(repository, undefined, signal)
  const commands = await readSweepingCommands(repository, base.tree, signal)
  return {
    commands,
    findings: judgePipelines(await readSynced(repository, base, () => false, signal), commands),
  }
}

const SEEN: readonly (readonly [path: string, text: string, command: string, line: number])[] = [
  [
    '.github/workflows/deploy.yml',
    'jobs:\n  a:\n    steps:\n    - run: kubectl apply -R -f .\n',
    'kubectl on every manifest',
    4,
  ],
  [
    '.gitlab-ci.yml',
    'deploy:\n  script: kubectl --context prod apply --recursive --filename=deploy\n',
    'kubectl on every manifest',
    2,
  ],
  ['Jenkinsfile', "sh 'kubectl apply -f ./ '\n", 'kubectl on every manifest', 1],
  ['ci/Jenkinsfile', "sh 'kubectl diff \\\n  -R -f k8s'\n", 'kubectl on every manifest', 1],
  ['Makefile', 'all:\n\techo \\\n\t  all\n\tkapp deploy -a shop \\\n\t  -f .\n', 'kapp deploy', 4],
  ['Makefile', 'deploy:\n\tkapp deploy -a shop -f . -y\n', 'kapp deploy', 2],
  [
    'scripts/build.sh',
    'kustomize create --autodetect --recursive\n',
    'kustomize create --autodetect',
    1,
  ],
  ['.circleci/config.yml', '- run: kubeconform -strict .\n', 'a linter of manifests', 1],
  ['azure-pipelines.yml', '- script: kluctl deploy -t prod\n', 'kluctl deploy', 1],
  ['.drone.yml', '- fleet apply shop .\n', 'fleet apply', 1],
]

for (const [path, text, command, line] of SEEN)
  test(`finds ${command} at ${path}:${line}`, async () => {
    const { commands } = await judged({ [path]: text })
    assert.deepEqual(commands, [{ command, where: `${path}:${line}` }])
  })

test('ignores a command about one file, in a comment or outside a pipeline file', async () => {
  const { commands, findings } = await judged({
    '.github/workflows/deploy.yml':
      '# kubectl apply -R -f .\n- run: kubectl apply -f deploy/web.yaml\n- run: kubectl get pods -R\n',
    Makefile: 'a:\n\tkapp deploy -a shop -f deploy/\n',
    'docs/deploy.md': 'kubectl apply -R -f .\n',
  })
  assert.deepEqual([commands, findings], [[], []])
})

test('a pipeline passes unless it would apply a file of backporch, which is then named', async () => {
  const pipeline = { '.gitlab-ci.yml': 'script: kubectl apply -R -f .\n' }
  const record = '.drift/records/prod/apps--web/20261121-1a2b3c4d'
  const passed = await judged({
    ...pipeline,
    '.drift/default.policy': POLICY,
    [`${record}.record`]: 'kind: DriftRecord\n',
  })
  assert.deepEqual(passed.findings, [
    {
      check: 'pipelines',
      state: 'passed',
      message:
        'pipelines: no file of .drift/ has a name that kubectl on every manifest (.gitlab-ci.yml:1) reads',
    },
  ])
  const { findings } = await judged({
    ...pipeline,
    '.drift/policy.yaml': POLICY,
    [`${record}.yaml`]: 'kind: DriftRecord\n',
  })
  assert.deepEqual(findings, [
    {
      check: 'pipelines',
      state: 'warning',
      message:
        'pipelines: .drift/policy.yaml and 1 more would be read by kubectl on every manifest (.gitlab-ci.yml:1)',
      fix: 'git mv .drift/policy.yaml .drift/default.policy; the records move with the next proposal of their package',
    },
  ])
})

test('without a pipeline, a file that one would apply is reported without a warning', async () => {
  const { findings } = await judged({
    '.drift/policy.yaml': POLICY,
    '.drift/placement.yaml': 'kind: Placement\n',
  })
  assert.deepEqual(
    findings.map(({ state, fix }) => [state, fix]),
    [
      [
        'skipped',
        'git mv .drift/placement.yaml .drift/placement.policy && git mv .drift/policy.yaml .drift/default.policy',
      ],
    ],
  )
})
