import { describeKills } from './kill-at-writes.ts'
import { ONBOARDING } from './scenarios-onboarding.ts'

describeKills('init', ONBOARDING)
