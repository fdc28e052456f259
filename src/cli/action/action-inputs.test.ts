import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readActionInputs } from './action-inputs.ts'
import { findWorstCode } from './action-run.ts'

test("the action uses the workflow's own repository unless another is named", () => {
  const own = { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'acme/deploy' }
  assert.equal(readActionInputs(own).repo, 'https://github.example/acme/deploy')
  assert.equal(readActionInputs({ ...own, INPUT_REPO: ' ../other ' }).repo, '../other')
  assert.equal(readActionInputs({ GITHUB_SERVER_URL: 'https://github.example' }).repo, '.')
})

test('each cluster is a context of the kubeconfig, or the name of the recording', () => {
  const flags = (env: Readonly<Record<string, string>>) =>
    readActionInputs(env).targets.map((target) => target.flags.join(' '))
  const kubeconfig = {
    INPUT_KUBECONFIG: '/k',
    'INPUT_KUBECONFIG-EXEC-ALLOW': '/bin/a b\n\n /bin/c',
  }
  const shared = '--kubeconfig /k --kubeconfig-exec-allow /bin/a b --kubeconfig-exec-allow /bin/c'
  assert.deepEqual(flags({ ...kubeconfig, INPUT_CLUSTERS: 'eu, us\neu' }), [
    `--context eu --cluster eu ${shared}`,
    `--context us --cluster us ${shared}`,
  ])
  assert.deepEqual(flags(kubeconfig), [shared])
  assert.deepEqual(flags({ INPUT_LIVE: 'live', INPUT_CLUSTERS: 'eu' }), [
    '--live live --cluster eu',
  ])
  assert.deepEqual(flags({ INPUT_LIVE: 'live' }), ['--live live'])
})

test('allowed programs are passed with every cluster and recording, one per line', () => {
  const flags = (env: Readonly<Record<string, string>>) =>
    readActionInputs(env).targets.map((target) => target.flags.join(' '))
  const env = {
    'INPUT_ALLOW-EXEC': '/opt/fn --strict\n-x',
    'INPUT_ALLOW-MODULE': '/srv/team.mjs\n',
    'INPUT_ALLOW-IMAGE': ' reg.example/fn/ ',
    'INPUT_CONTAINER-ENGINE': 'podman',
  }
  const allowed =
    '--allow-exec=/opt/fn --strict --allow-exec=-x --allow-module=/srv/team.mjs --allow-image=reg.example/fn/ --container-engine podman'
  assert.deepEqual(flags({ ...env, INPUT_CLUSTERS: 'eu us' }), [
    `--context eu --cluster eu ${allowed}`,
    `--context us --cluster us ${allowed}`,
  ])
  assert.deepEqual(flags({ ...env, INPUT_LIVE: 'live' }), [`--live live ${allowed}`])
})

test('the workflow token is not our own when the environment names another identity', () => {
  const both = { INPUT_TOKEN: 't', 'INPUT_WORKFLOW-TOKEN': 't' }
  const own = (more: Readonly<Record<string, string>>): boolean =>
    readActionInputs({ ...both, ...more }).ownToken
  assert.deepEqual(
    [
      own({}),
      own({ BACKPORCH_TOKEN: 'x' }),
      own({ BACKPORCH_APP_ID: '1' }),
      own({ INPUT_TOKEN: 'other' }),
    ],
    [true, false, false, false],
  )
})

test('the worst exit code wins: error, then missing rights, then not observed, then drift', () => {
  assert.deepEqual(
    [[0, 1, 3, 4, 2], [0, 3, 4], [1, 3], [0, 1], [0], []].map(findWorstCode),
    [2, 4, 3, 1, 0, 0],
  )
})
