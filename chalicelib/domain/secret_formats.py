"""The formats of tokens that their provider marked with a prefix: a table, as their documents describe them."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Format(NamedTuple):
    """``prefixes`` are separated by spaces; ``body`` is a pattern for what follows, bounded or possessive.

    ``where`` says what may stand before: "word" nothing that ends in a letter or digit; "glued" anything, as the
    prefix is distinctive enough; "clean" nothing that the body itself may hold, which keeps long bodies linear;
    "sparse" is a word in which other signs stand, so that it makes no run.
    """

    kind: str
    prefixes: str
    body: str
    where: Literal["word", "glued", "clean", "sparse"] = "word"


_W, _WD, _HEX = "[A-Za-z0-9]", r"[A-Za-z0-9_\-]", "[0-9a-fA-F]"
_UUID = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
_DIGIT = r"(?=[A-Za-z_\-]{0,60}[0-9])"

FORMATS = (
    # Models
    Format(
        "openai_key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service-", rf"{_DIGIT}{_WD}{{20,250}}", where="glued"
    ),
    Format("openai_key", "sk-", rf"{_DIGIT}(?=[0-9]{{0,60}}[A-Za-z]){_W}{{20,120}}"),
    Format("anthropic_key", "sk-ant-", rf"{_DIGIT}{_WD}{{24,250}}", where="glued"),
    Format("openrouter_key", "sk-or-", rf"(?:v1-)?{_HEX}{{40,80}}"),
    Format("langfuse_key", "sk-lf-", _UUID),
    Format("huggingface_token", "hf_ api_org_", rf"{_W}{{30,48}}"),
    Format("replicate_token", "r8_", rf"{_W}{{37}}"),
    Format("groq_key", "gsk_", rf"{_W}{{48,56}}"),
    Format("perplexity_key", "pplx-", rf"{_W}{{40,56}}"),
    Format("xai_key", "xai-", rf"{_W}{{60,100}}"),
    Format("nvidia_key", "nvapi-", rf"{_WD}{{50,80}}"),
    Format("pinecone_key", "pcsk_", rf"{_WD}{{40,90}}"),
    Format("langsmith_key", "lsv2_pt_ lsv2_sk_ ls__", rf"{_HEX}{{32}}(?:_{_HEX}{{10}})?"),
    Format("tavily_key", "tvly-", rf"{_DIGIT}{_WD}{{20,60}}"),
    Format("jina_key", "jina_", rf"{_WD}{{40,80}}"),
    Format("firecrawl_key", "fc-", rf"{_HEX}{{32}}"),
    Format("together_key", "tgp_v1_", rf"{_WD}{{30,60}}"),
    Format("elevenlabs_key", "sk_", rf"{_HEX}{{48}}"),
    Format("fireworks_key", "fw_", rf"{_DIGIT}{_W}{{22,40}}"),
    # Clouds
    Format("aws_access_key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}"),
    Format(
        "aws_session_token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz AQoDYXdz", r"[A-Za-z0-9/+=%]{80,}+", where="clean"
    ),
    Format("aws_bedrock_key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/=]{100,}+", where="sparse"),
    Format("google_api_key", "AIza", rf"{_WD}{{35}}"),
    Format("google_hmac_key", "GOOG1E", r"[A-Z0-9]{55}"),
    Format("google_oauth_secret", "GOCSPX-", rf"{_WD}{{20,40}}", where="glued"),
    Format("google_oauth_token", "ya29.", r"[A-Za-z0-9_.\-]{20,}+", where="clean"),
    Format("google_refresh_token", "1//0", rf"{_WD}{{30,250}}", where="sparse"),
    Format("google_api_key", "AQ.Ab", rf"{_WD}{{40,80}}"),
    Format("firebase_key", "AAAA", rf"{_WD}{{7}}:{_WD}{{130,170}}"),
    Format("alibaba_access_key", "LTAI", rf"{_DIGIT}{_W}{{12,26}}"),
    Format("tencent_access_key", "AKID", rf"{_DIGIT}{_W}{{28,40}}"),
    Format("baidu_key", "bce-v3/ALTAK-", rf"{_W}{{16,32}}/{_HEX}{{40}}", where="sparse"),
    Format("yandex_key", "AQVN", rf"{_WD}{{35,40}}"),
    Format("yandex_token", "t1.", rf"{_WD}{{20,200}}={{0,2}}\.{_WD}{{80,90}}={{0,2}}"),
    Format("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}", where="glued"),
    Format("heroku_key", "HRKU-", rf"{_WD}{{36,64}}"),
    Format("flyio_token", "fo1_ fm1a_ fm1r_ fm2_", r"[A-Za-z0-9_+/\-]{40,}+={0,3}", where="sparse"),
    Format("cloudflare_token", "cfut_ cfat_ cfk_", rf"{_WD}{{40,80}}"),
    Format("cloudflare_origin_key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,160}}"),
    Format("netlify_token", "nfp_ nfc_ nfo_ nfu_", rf"{_W}{{36,48}}"),
    Format("vercel_token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", rf"{_WD}{{24,80}}"),
    Format("supabase_key", "sbp_", rf"{_HEX}{{40}}"),
    Format("supabase_key", "sb_secret_", rf"{_WD}{{20,60}}"),
    Format("render_key", "rnd_", rf"{_DIGIT}{_W}{{24,40}}"),
    Format("scalingo_token", "tk-us-", rf"{_WD}{{40,60}}"),
    Format("databricks_token", "dapi dose dkea", rf"{_HEX}{{32}}(?:-[0-9])?"),
    # Code and its supply chain
    Format("github_token", "ghp_ gho_ ghu_ ghr_", rf"{_W}{{36,255}}", where="glued"),
    Format(
        "github_token",
        "ghs_",
        rf"(?:{_W}{{36,255}}|[0-9]{{4,12}}_{_WD}{{20,600}}(?:\.{_WD}{{10,1200}}){{0,2}})",
        where="glued",
    ),
    Format("github_token", "github_pat_", r"[A-Za-z0-9_]{36,255}", where="glued"),
    Format(
        "gitlab_token",
        "glpat- gldt- glrt- glrtr- glft- glsoat- glcbt- glptt- glimt- glagent- gloas- glffct- glwt- GR1348941",
        rf"{_WD}{{20,300}}(?:\.[0-9a-z]{{2}}(?:\.[0-9a-z]{{9}}|\.?[0-9a-z]{{7}}))?",
        where="glued",
    ),
    Format("gitlab_session", "_gitlab_session=", rf"{_W}{{32}}", where="sparse"),
    Format("npm_token", "npm_", rf"{_W}{{36}}"),
    Format("pypi_token", "pypi-", rf"{_WD}{{50,}}+", where="clean"),
    Format("rubygems_token", "rubygems_", rf"{_HEX}{{48}}"),
    Format("crates_token", "cio", rf"{_DIGIT}{_W}{{32}}"),
    Format("nuget_key", "oy2", r"[a-z0-9]{43}"),
    Format("clojars_token", "CLOJARS_", r"[a-z0-9]{60}"),
    Format("docker_token", "dckr_pat_ dckr_oat_", rf"{_WD}{{20,40}}", where="glued"),
    Format("atlassian_token", "ATATT3 ATCTT3 ATBB", r"[A-Za-z0-9_\-=]{20,250}"),
    Format("artifactory_key", "AKCp", rf"{_W}{{60,80}}"),
    Format("artifactory_token", "cmVmd", rf"{_W}{{55,64}}"),
    Format("circleci_token", "CCIPAT_ CCIPRJ_", rf"{_WD}{{20,80}}"),
    Format("buildkite_token", "bkua_ bkat_ bkct_", rf"{_W}{{36,80}}"),
    Format("sonar_token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    Format("snyk_token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9_.\-]{30,300}"),
    Format("sourcegraph_token", "sgp_", rf"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    Format("octopus_key", "API-", r"(?=[A-Z]{0,25}[0-9])[A-Z0-9]{26}"),
    Format("harness_key", "pat. sat.", rf"{_WD}{{22}}\.{_W}{{24}}\.{_W}{{20}}"),
    Format("pulumi_token", "pul-", rf"{_HEX}{{40}}"),
    Format("infracost_key", "ico-", rf"{_W}{{32}}"),
    Format("prefect_key", "pnu_ pnb_", rf"{_W}{{36}}"),
    # Chat, mail, work
    Format(
        "slack_token",
        "xoxb- xoxa- xoxp- xoxr- xoxs- xoxo- xoxc- xoxe- xoxd-",
        r"(?=[A-Za-z\-]{0,20}[0-9])[A-Za-z0-9%+/\-]{10,400}",
        where="glued",
    ),
    Format("slack_token", "xoxe.xoxb- xoxe.xoxp- xapp-", rf"{_DIGIT}{_WD}{{20,400}}", where="glued"),
    Format("twilio_key", "SK", r"[0-9a-f]{32}"),
    Format("sendgrid_key", "SG.", rf"{_WD}{{16,32}}\.{_WD}{{16,64}}"),
    Format("mailgun_key", "key-", r"[0-9a-f]{32}"),
    Format("brevo_key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_W}{{16}}"),
    Format("resend_key", "re_", rf"{_DIGIT}{_W}{{8}}_{_W}{{20,32}}"),
    Format("mailersend_key", "mlsn.", rf"{_HEX}{{64}}"),
    Format("linear_key", "lin_api_ lin_oauth_", rf"{_W}{{32,80}}"),
    Format("notion_token", "ntn_", rf"{_W}{{40,60}}"),
    Format("notion_token", "secret_", rf"{_DIGIT}{_W}{{43}}"),
    Format("airtable_token", "pat", rf"{_W}{{14}}\.{_HEX}{{64}}"),
    Format("asana_token", "1/ 2/", rf"[0-9]{{13,20}}(?:/[0-9]{{13,20}})?:{_HEX}{{32}}", where="sparse"),
    Format("figma_token", "figd_ figo_ figoh_ figu_", rf"{_WD}{{30,80}}"),
    Format("typeform_token", "tfp_", r"[A-Za-z0-9_.=\-]{40,70}"),
    Format("hubspot_token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    Format("contentful_token", "CFPAT-", rf"{_WD}{{40,48}}"),
    Format("frameio_token", "fio-u-", rf"{_WD}{{60,70}}"),
    Format("mapbox_token", "sk.eyJ", rf"{_WD}{{20,}}+\.{_WD}{{20,}}+", where="clean"),
    Format("adafruit_key", "aio_", rf"{_DIGIT}{_W}{{28}}"),
    Format("readme_token", "rdme_", r"[a-z0-9]{70}"),
    Format("matrix_token", "syt_", rf"[A-Za-z0-9+/=]{{4,80}}_{_W}{{20}}_{_W}{{6}}", where="sparse"),
    Format("salesforce_token", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}"),
    # Money
    Format("stripe_key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ sk_org_", r"[A-Za-z0-9_]{10,250}"),
    Format("stripe_webhook_secret", "whsec_", r"[A-Za-z0-9+/=]{24,120}", where="sparse"),
    Format("square_token", "sq0atp- sq0csp- sq0idp-", rf"{_WD}{{20,60}}"),
    Format("square_token", "EAAA", rf"{_DIGIT}{_WD}{{56,65}}"),
    Format("shopify_token", "shpat_ shpca_ shppa_ shpss_ shpua_ shptka_", rf"{_HEX}{{32}}"),
    Format("plaid_token", "access-sandbox- access-development- access-production-", _UUID),
    Format("flutterwave_key", "FLWSECK_TEST- FLWSECK-", rf"{_W}{{12,40}}(?:-X)?"),
    Format(
        "braintree_token",
        "access_token$production$ access_token$sandbox$",
        rf"{_W}{{16}}\${_HEX}{{32}}",
        where="sparse",
    ),
    Format("razorpay_key", "rzp_live_", rf"{_W}{{14,24}}"),
    Format("shippo_token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    Format("easypost_key", "EZAK EZTK", rf"{_W}{{54}}"),
    Format("duffel_token", "duffel_test_ duffel_live_", rf"{_WD}{{40,48}}"),
    # Watching and running
    Format("grafana_token", "glsa_", rf"{_W}{{32}}_{_HEX}{{8}}"),
    Format("grafana_token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,3}", where="sparse"),
    Format("grafana_token", "eyJrIjoi", r"[A-Za-z0-9+/]{60,400}={0,3}", where="sparse"),
    Format("newrelic_key", "NRAK- NRII- NRIQ- NRRA- NRSP-", rf"{_WD}{{24,42}}"),
    Format("dynatrace_token", "dt0c01. dt0s01. dt0s02. dt0s16.", rf"{_W}{{8,24}}\.{_W}{{60,70}}"),
    Format("sentry_token", "sntryu_", rf"{_HEX}{{64}}"),
    Format("sentry_token", "sntrys_", r"[A-Za-z0-9+/=_\-]{60,500}", where="sparse"),
    Format("posthog_key", "phx_", rf"{_W}{{40,60}}"),
    Format("honeycomb_key", "hcaik_ hcbik_ hcamk_", r"[A-Za-z0-9_]{40,80}"),
    Format("launchdarkly_key", "sdk- api-", _UUID),
    Format("postman_key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    Format("planetscale_token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9_.=\-]{32,64}"),
    Format("mongodb_atlas_key", "mdb_sa_sk_", rf"{_WD}{{36,60}}"),
    Format("neon_key", "napi_", r"[a-z0-9]{40,80}"),
    Format("aiven_password", "AVNS_", rf"{_WD}{{17,24}}"),
    Format("vault_token", "hvs. hvb. hvr.", rf"{_WD}{{24,300}}"),
    Format("vault_token", "s.", r"(?=[A-Za-z]{0,23}[0-9])(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}"),
    Format("doppler_token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.\-]{36,90}"),
    Format(
        "tailscale_key",
        "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- tskey-",
        rf"{_DIGIT}{_WD}{{16,80}}",
    ),
    Format("onepassword_token", "ops_eyJ", r"[A-Za-z0-9+/=_\-]{200,}+", where="sparse"),
    Format(
        "onepassword_key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    Format("age_key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", where="glued"),
    Format("openshift_token", "sha256~", rf"{_WD}{{43}}", where="sparse"),
    Format("dropbox_token", "sl.", r"[A-Za-z0-9_.\-]{100,}+", where="clean"),
    Format("facebook_token", "EAA IGQV IGAA", rf"{_W}{{90,300}}"),
    Format("twitter_bearer_token", "AAAAAAAAAAAAAAAAAAAAA", r"(?=[A-Za-z%]{0,60}[0-9])[A-Za-z0-9%]{60,120}"),
    Format("jwt", "eyJ", rf"{_WD}{{8,}}+\.eyJ{_WD}{{4,}}+(?:\.{_WD}*+)?", where="clean"),
    Format("jwt", "eyJ", rf"{_WD}{{8,}}+\.{_WD}*+\.{_WD}{{8,}}+\.{_WD}{{8,}}+\.{_WD}{{8,}}+", where="clean"),
)
