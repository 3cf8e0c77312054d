# What train_study is made of, from src/. src/train/CMakeLists.txt builds it of nothing else; the
# main build, which has most of it in its rooms already, checks that all of it is there. It needs
# the standard library, the headers of nlohmann-json and, for what is named torch, libtorch.
set(STUDY_SOURCES
    base/file.cpp protocol/merge_rule.cpp policy/recipe_file.cpp policy/json_fields.cpp
    policy/step_schedule.cpp policy/merge_moves.cpp policy/rotation.cpp policy/rotation_clock.cpp
    policy/rotation_times.cpp policy/outer.cpp policy/servers.cpp
    learn/model_names.cpp
    train/carrier.cpp train/corpus.cpp train/text_folder.cpp train/output_paths.cpp
    train/run_identity.cpp train/trainer.cpp train/training_file.cpp train/training_options.cpp
    train/study.cpp train/study_options.cpp train/study_main.cpp)
set(STUDY_TORCH_SOURCES
    learn/torch_model.cpp learn/torch_learner.cpp learn/torch_memory.cpp learn/torch_vectors.cpp)
